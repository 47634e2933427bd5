import { assertEquals } from "@std/assert";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Build } from "../bench/device/device.ts";
import { joinHashes } from "../bench/measure/case_run.ts";
import { CaseError } from "../bench/model/errors.ts";
import { HOME } from "../session/home.ts";
import { SameCode } from "../session/stale/same_code.ts";
import { readRows } from "../session/read_rows.ts";
import { type RowState, stalenessOf } from "../session/stale/stale.ts";
import { builtInSuites } from "../suites/mod.ts";
import { compareCode, formatPairs } from "./same_code.ts";

const build = (file: string): Build => ({
  source: pathToFileURL(join(HOME, "kernels/x", file)),
  defines: { N: 1, K: 2, M: 3 },
});

/** A row measured with the code of hash `code`, whose kernel now has the sources `files`. */
function stoodOf(
  code: string,
  files: readonly string[],
  row: Partial<RowState["row"]> = {},
): RowState {
  return {
    file: "rows.csv",
    standing: "changed",
    row: { code_hash: code, commit: "c0ffee", dirty: "false", ...row },
    present: { codeHash: "now", builds: files.map(build) },
  } as unknown as RowState;
}

/** Compares where `tree` has `files`, by path the hash of their code and of their binary. */
async function compared(
  stood: RowState,
  files: Readonly<Record<string, readonly [code: string, binary: string]>>,
  isFirstOther = false,
) {
  const [tree, present] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  try {
    await Deno.mkdir(join(tree, "kernels/x"), { recursive: true });
    for (const name of Object.keys(files)) {
      await Deno.writeTextFile(join(tree, "kernels/x", name), "");
    }
    const nameOf = ({ source }: Build) => basename(fileURLToPath(source));
    const isOld = ({ source }: Build) => fileURLToPath(source).includes(tree);
    return await compareCode(stood, {
      treeOf(commit) {
        const folder = { present, c0ffee: tree }[commit];
        return folder === undefined
          ? Promise.reject(new CaseError("compile", "no such tree"))
          : Promise.resolve(folder);
      },
      codeHash(one) {
        const found = isOld(one) ? files[nameOf(one)] : undefined;
        if (!found) throw new CaseError("compile", `no ${nameOf(one)}`);
        const lacking = ["N", "K", "M"].filter((name) =>
          !(name in one.defines)
        );
        return [found[0], ...lacking].join(" without ");
      },
      compile: (one, attempt) =>
        Promise.resolve({
          binaryHash: isOld(one)
            ? files[nameOf(one)]![1]
            : attempt === 0 && isFirstOther
            ? "other"
            : "binary",
          compiler: "nvcc 13.0",
        }),
    });
  } finally {
    for (const path of [tree, present]) {
      await Deno.remove(path, { recursive: true });
    }
  }
}

const PAIR = {
  was: "then",
  is: "now",
  binary: "binary",
  compiler: "nvcc 13.0",
};

Deno.test("compareCode() pairs code of the same machine code, under another name too", async () => {
  const stood = stoodOf("then", ["k.cu"]);
  assertEquals(await compared(stood, { "k.cu": ["then", "binary"] }), {
    pair: PAIR,
  });
  assertEquals(
    await compared(stood, {
      "k.cu": ["other", "binary"],
      "old.cu": ["then", "binary"],
    }),
    { pair: PAIR },
  );
});

Deno.test("compareCode() pairs code that had one or two fewer constants", async () => {
  for (const was of ["then without N", "then without N without M"]) {
    const stood = stoodOf(was, ["k.cu"]);
    assertEquals(await compared(stood, { "k.cu": ["then", "binary"] }), {
      pair: { ...PAIR, was },
    });
  }
  const less = stoodOf("then without N without K without M", ["k.cu"]);
  assertEquals(await compared(less, { "k.cu": ["then", "binary"] }), {
    why: "its constants or configs changed too",
  });
  const stood = stoodOf("then without N", ["k.cu"]);
  assertEquals(await compared(stood, { "k.cu": ["then", "another"] }), {
    why: "the machine code is another",
  });
});

Deno.test("compareCode() compiles again where the bytes differ", async () => {
  const files = { "k.cu": ["then", "binary"] } as const;
  assertEquals(await compared(stoodOf("then", ["k.cu"]), files, true), {
    pair: PAIR,
  });
});

Deno.test("compareCode() pairs no other machine code, and none that it cannot make again", async () => {
  const stood = stoodOf("then", ["k.cu"]);
  assertEquals(await compared(stood, { "k.cu": ["then", "another"] }), {
    why: "the machine code is another",
  });
  for (
    const files of [
      { "k.cu": ["other", "binary"] },
      { "k.h": ["then", "binary"] },
    ] as const
  ) {
    assertEquals(await compared(stood, files as never), {
      why: "its constants or configs changed too",
    });
  }
  for (const row of [{ commit: "" }, { dirty: "true" }] as const) {
    assertEquals(
      await compared(stoodOf("then", ["k.cu"], row), {
        "k.cu": ["then", "binary"],
      }),
      { why: "no commit has the code that was measured" },
    );
  }
  assertEquals(
    await compared(stoodOf("then", ["k.cu"], { commit: "beef" }), {}),
    { why: "no such tree" },
  );
});

Deno.test("compareCode() compares each source of several", async () => {
  const stood = stoodOf(joinHashes(["a", "b"]), ["a.cu", "b.cu"]);
  const files = { "a.cu": ["a", "binary"], "b.cu": ["b", "binary"] } as const;
  const found = await compared(stood, files);
  assertEquals(
    "pair" in found && found.pair.binary,
    joinHashes([
      ...["binary", "binary"],
    ]),
  );
  assertEquals(
    await compared(stood, { ...files, "b.cu": ["b", "another"] }),
    { why: "the machine code is another" },
  );
});

Deno.test("formatPairs() has a line for each pair, which stalenessOf() goes by", async () => {
  const rows = await readRows([
    join(HOME, "results/nvidia-h200/ffn-swiglu.csv"),
  ]);
  const one = rows.find(({ row }) => row.kernel === "fused")!;
  const changed = { ...one, row: { ...one.row, code_hash: "then" } };
  const suites = await builtInSuites(["ffn-swiglu"]);
  const [stood] = await stalenessOf([changed], suites, new SameCode([]));
  assertEquals(stood!.standing, "changed");
  const text = formatPairs([{ ...PAIR, is: stood!.present!.codeHash }]);
  assertEquals(text.split("\n").length, 6);
  const same = new SameCode(JSON.parse(text).same);
  const [again] = await stalenessOf([changed], suites, same);
  assertEquals(again!.standing, "current");
});

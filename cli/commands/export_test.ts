import {
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { join } from "node:path";
import { cuda } from "../../backends/cuda/cuda.ts";
import type { Backend } from "../../bench/device/device.ts";
import { CaseError, UserError } from "../../bench/model/errors.ts";
import { recordedRows } from "../../session/hints.ts";
import { withFile } from "../options/source.ts";
import { program } from "../testdata/program.ts";
import {
  exportKernels,
  type ExportOptions,
  kernelLines,
} from "./export/files.ts";

const MATMUL: Omit<ExportOptions, "out"> = {
  op: "matmul",
  suites: [],
  kernels: ["cluster-k"],
  where: {},
  overrides: { m: [1, 2], n: [64], k: [256] },
  quick: false,
  arch: "sm_90a",
  pdl: false,
  kernelCache: undefined,
};

/** A shape of a cooperative kernel, `exchange-k`. */
const WAITED = {
  overrides: { m: [33], n: [40], k: [2048], layout: ["nt"] },
};

/** Runs `work` with a folder that is removed afterwards, and what is left in it. */
async function within(
  work: (out: string, folder: string) => Promise<void>,
): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir({ prefix: "export" });
  try {
    await work(join(folder, "out"), folder);
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const REFUSED: readonly (readonly [Partial<ExportOptions>, RegExp])[] = [
  [{ arch: "sm_5" }, /^No architecture is named sm_5: give one such as/],
  [{ arch: "gfx942" }, /^Cannot export for gfx942: only CUDA kernels/],
  [{ op: "conv" }, /^No operation is named conv: there are matmul, /],
  [{ op: "grouped-matmul" }, /^Cannot export grouped-matmul: .* another op/],
  [{ kernels: ["naive"] }, /^No kernel is named naive: /],
  [{ overrides: {} }, /^Cannot export without shapes: give --m, --n and --k/],
  [
    { where: { layout: ["nt"] } },
    /^Cannot choose by --where without --suite: give --axis layout=nt, or --suite/,
  ],
  [{ overrides: { m: [1] } }, /n is missing: give a whole number/],
  [{ op: undefined }, /^Cannot export without shapes: give --op with/],
  [
    { arch: "sm_80" },
    /^Cannot export m=1 n=64 k=256 .* for sm_80: cluster-k: .*; choose other/,
  ],
  [
    {
      kernels: ["cublas", "columns-k"],
      overrides: { ...MATMUL.overrides, type: ["f32"] },
    },
    /: cublas: it calls a library, .*; columns-k: .* IEEE fp32; choose other/,
  ],
  [
    { kernels: ["dot"], overrides: { m: [9], n: [64], k: [256] } },
    /dot: M=9: a thread has registers for 8 rows of sums; choose other sizes/,
  ],
  [
    { pdl: true, arch: "sm_80", kernels: ["dot"] },
    /^Cannot export with --pdl: sm_80 has no dependent launch: sm_90 has; leave/,
  ],
  [
    { pdl: true, kernels: ["exchange-k"], ...WAITED },
    /^Cannot export with --pdl: no chosen kernel .*; put one that does first/,
  ],
  [
    { suites: ["matmul-bf16", "mlx-qmm"], op: undefined },
    /^(?:No kernel of .* is named|Cannot export suites of matmul and qmm)/,
  ],
];

for (const [options, message] of REFUSED) {
  Deno.test(`exportKernels() refuses ${JSON.stringify(options)}, writing nothing`, async () => {
    const left = await within(async (out) => {
      const error = await assertRejects(
        () => exportKernels({ ...MATMUL, out, ...options }),
        UserError,
      );
      const { message: said } = error;
      assertStrictEquals(message.test(said), true, said);
      assertEquals([error.code, said.includes("\n")], [2, false]);
    });
    assertEquals(left, []);
  });
}

Deno.test("exportKernels() leaves folders alone whose names begin as its own", async () => {
  const left = await within(async (out, folder) => {
    const beside = join(folder, ".out-backup");
    await Deno.mkdir(beside);
    await Deno.writeTextFile(join(beside, "mine"), "");
    await exportKernels({ ...MATMUL, out });
  });
  assertEquals(left.filter((name) => name.endsWith("-backup")).length, 1);
});

Deno.test("kernelLines() says what was exported, and which kernel runs at which M", () => {
  const row = (from: number, to: number, note: string) => ({
    from,
    to,
    plan: { note, steps: [], scratch: { base: 0, slope: 0 }, kept: [] },
  });
  const table = {
    key: [],
    operands: [],
    label: "bf16 nn N=64 K=256",
    rows: [
      row(1, 1, "auto kernel=dot WARPS=4"),
      row(2, 8, "auto kernel=cluster-k BM=16"),
      row(9, 16, "cluster-k BM=32"),
      row(32, 32, "wgmma-k"),
    ],
  };
  assertEquals(kernelLines([table]), [
    "  bf16 nn N=64 K=256: M = 1 dot, 2..16 cluster-k, 32 wgmma-k",
  ]);
  assertStrictEquals(
    kernelLines(Array(9).fill(table)).at(-1),
    "  and 3 more tables",
  );
});

Deno.test("exportKernels() refuses a folder with something in it", async () => {
  const left = await within(async (_, folder) => {
    await Deno.writeTextFile(join(folder, "mine"), "");
    await assertRejects(
      () => exportKernels({ ...MATMUL, out: folder }),
      UserError,
      "it is not empty; name a new folder",
    );
  });
  assertEquals(left, ["mine"]);
});

Deno.test("exportKernels() writes nothing where a kernel does not compile", async () => {
  const left = await within(async (out, folder) => {
    const backend = {
      ...cuda(),
      compiler() {
        throw new CaseError("compile", "no compiler");
      },
    };
    const kernelCache = join(folder, "kernels");
    const code = await exportKernels({ ...MATMUL, out, kernelCache }, backend);
    assertStrictEquals(code, 1);
  });
  assertEquals(left, []);
});

/** Compiles nothing. */
function uncompiled(): Backend {
  return {
    ...cuda(),
    compiler: () => ({
      signature: "none",
      async compile({ source }, binary) {
        await Deno.writeTextFile(binary, source.pathname.split("/").at(-1)!);
        return "";
      },
    }),
  };
}

/** The texts of an export of `kernel` that is not compiled. */
async function textsOf(options: Partial<ExportOptions>) {
  const texts = new Map<string, string>();
  await within(async (out, folder) => {
    const kernelCache = join(folder, "kernels");
    const all = { ...MATMUL, ...options, kernelCache, out };
    assertStrictEquals(await exportKernels(all, uncompiled()), 0);
    for (const { name } of Deno.readDirSync(out)) {
      texts.set(name, await Deno.readTextFile(join(out, name)));
    }
  });
  return texts;
}

/** Of each row of a header the kernel, and of its first launch the flags and the last argument. */
function firstLaunches(header: string) {
  const array = (name: string) => {
    const start = `mnk_matmul_${name}[] = {\n`;
    const [, rest] = header.split(start);
    return rest!.slice(0, rest!.indexOf("\n};")).split("\n");
  };
  const numbers = (text: string) => text.match(/-?\d+/g)!.map(Number);
  const [args, steps] = [array("arguments"), array("steps")];
  return array("rows").map((row) => {
    const [, note, fields] = /\/\* (.*) \*\/ (.*)/.exec(row)!;
    const [, , step] = numbers(fields!);
    const [, first, count, , , , , , cooperative, overlap] = numbers(
      steps[step!]!,
    );
    return {
      kernel: note!.split(" ")[0],
      isMarked: note!.endsWith("; without PDL"),
      cooperative,
      overlap,
      last: args[first! + count! - 1]!.trim(),
    };
  });
}

/** At M=1 `dot`, which has no argument `early`; otherwise `exchange-k` in fp32, which is cooperative. */
const MIXED = {
  kernels: ["dot", "wgmma-k", "exchange-k"],
  overrides: {
    m: [1, 33],
    n: [40],
    k: [2048],
    type: ["bf16", "f32"],
    layout: ["nt"],
    epilogue: ["none"],
  },
};

/** An `int` of a header that does not depend on M. */
const int = (value: number) => `{MNK_INTEGER32, 0, 0, {${value}, 0}},`;

Deno.test("exportKernels() with --pdl starts what waits early, and nothing cooperative", async () => {
  const texts = await textsOf({ ...MIXED, pdl: true });
  const dot = { kernel: "dot", isMarked: false, cooperative: 0, overlap: 1 };
  const rows = firstLaunches(texts.get("mnk_matmul.h")!);
  assertEquals(rows.map(({ last: _, ...row }) => row), [
    dot,
    { ...dot, kernel: "wgmma-k" },
    dot,
    { kernel: "exchange-k", isMarked: true, cooperative: 1, overlap: 0 },
  ]);
  assertEquals([rows[1]!.last, rows[3]!.last], [int(1), int(0)]);
  for (const file of ["mnk_matmul.h", "mnk_matmul.py"]) {
    assertMatch(
      texts.get(file)!,
      /Weights, their scales and biases must not be/,
    );
  }
});

Deno.test("exportKernels() with --pdl takes a kernel's config of early calls", async () => {
  const sizes = { m: "16", n: "16", k: "24576" };
  const recorded = (timer: string) =>
    recordedRows({ arch: "sm_90a", name: "NVIDIA H200" }).find((row) =>
      row.suite === "epilogue-bf16" && row.kernel === "cluster-k" &&
      row.timer === timer && row.m === sizes.m && row.k === sizes.k
    )!.config;
  const [lone, early] = [recorded("graph"), recorded("chain:32:pdl")];
  assertNotEquals(lone, early);
  const overrides = { m: [16], n: [16], k: [24576], epilogue: ["relu"] };
  for (const [pdl, config] of [[false, lone], [true, early]] as const) {
    const texts = await textsOf({ overrides, pdl });
    const header = texts.get("mnk_matmul.h")!;
    assertStrictEquals(header.includes(`cluster-k ${config}`), true, header);
  }
});

Deno.test("exportKernels() without --pdl starts no first launch early", async () => {
  const texts = await textsOf(MIXED);
  const rows = firstLaunches(texts.get("mnk_matmul.h")!);
  assertEquals(
    rows.map(({ isMarked, overlap }) => [isMarked, overlap]),
    rows.map(() => [false, 0]),
  );
  assertEquals([rows[1]!.last, rows[3]!.last], [int(0), int(0)]);
  for (const text of texts.values()) {
    assertStrictEquals(/PDL/.test(text.replaceAll(" PDL=1", "")), false);
  }
});

Deno.test("export takes the kernel of a .cu file, and refuses one of another backend", async () => {
  const [own, other] = ["cuda-kernel/tiled.cu", "c-kernel/rows.c"].map((path) =>
    new URL(`../../examples/${path}`, import.meta.url).pathname
  );
  const none = {
    entry: undefined,
    block: undefined,
    grid: undefined,
    shared: undefined,
  };
  const options = await withFile({
    ...MATMUL,
    ...none,
    file: own,
    suites: [],
    kernels: [],
    overrides: { m: [64] },
  }, { alone: true });
  const header = (await textsOf(options)).get("mnk_matmul.h")!;
  assertEquals(firstLaunches(header).map(({ kernel }) => kernel), ["tiled"]);
  const place = ["--arch", "sm_90a", "--out", "x"];
  const { code, stderr } = await program(["export", other!, ...place]);
  assertEquals(code, 2, stderr);
  assertMatch(
    stderr,
    /^error: Cannot export .*rows\.c: the kernel is for cpu, and only CUDA kernels are exported; name a \.cu file$/m,
  );
});

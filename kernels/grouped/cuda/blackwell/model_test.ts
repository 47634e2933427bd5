import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { decode, encode } from "../../../../bench/model/dtype.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { groupedMatmul } from "../../op.ts";
import { realProblems } from "../../point.ts";
import { blackwellMutants } from "../../testdata/blackwell_mutants.ts";
import { itemTable } from "./blackwell.ts";
import { itemsOf, stagesOf } from "./configs.ts";

const CXX = "c++";
const found = (() => {
  try {
    return new Deno.Command(CXX, { args: ["--version"] }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();
const options = { ignore: !found };
const skip = found ? "" : " (ignored: no C++ compiler)";
const FLAGS = [
  "-std=c++17",
  "-O1",
  "-Wall",
  "-Werror",
  "-Wno-unknown-pragmas",
  "-Wno-unused-function",
  "-Wno-sign-compare",
  "-pthread",
];

/** The kernel as a program of the host, as it is or as a mutant. */
async function program(
  folder: string,
  { MAXN, mutant }: { MAXN: number; mutant?: string },
): Promise<string> {
  const source = new URL("./testdata/model.cpp", import.meta.url);
  const binary = `${folder}/model`;
  const { success, stderr } = await new Deno.Command(CXX, {
    args: [
      ...FLAGS,
      `-DMAXN=${MAXN}`,
      `-DSTAGES=${stagesOf({ MAXN })}`,
      ...mutant === undefined ? [] : [`-DMUTANT_${mutant}=1`],
      fileURLToPath(source),
      "-o",
      binary,
    ],
  }).output();
  strictEqual(success, true, new TextDecoder().decode(stderr));
  return binary;
}

/** What the kernel makes of a list: C of all problems one after the other, or what went wrong. */
async function run(
  values: Values,
  { MAXN, fill, mutant }: {
    MAXN: number;
    fill: "normal" | "uniform";
    mutant?: string;
  },
) {
  const point = groupedMatmul.point(values);
  const problems = realProblems(point);
  const inputs = groupedMatmul.inputs(point, { seed: 7, fill });
  const items = itemsOf(problems, { MAXN });
  const parts: Uint8Array<ArrayBuffer>[] = [
    ints([problems.length, items.length, Number(point.layout !== "nt")]),
    ...problems.flatMap(({ m, n, k }, i) => [
      ints([m, n, k]),
      ...inputs.slice(4 * i, 4 * i + 4),
    ]),
    itemTable(items),
  ];
  const folder = await Deno.makeTempDir();
  try {
    const binary = await program(folder, {
      MAXN,
      ...mutant === undefined ? {} : { mutant },
    });
    const child = new Deno.Command(binary, {
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const [, { code, stdout, stderr }] = await Promise.all([
      new Blob(parts).stream().pipeTo(child.stdin),
      child.output(),
    ]);
    const right = groupedMatmul.reference(point, inputs);
    const want = new Uint8Array(
      await new Blob(problems.map((_, i) => encode(right.all(i), "f16")))
        .arrayBuffer(),
    );
    return { code, log: new TextDecoder().decode(stderr), got: stdout, want };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function ints(numbers: readonly number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Int32Array.from(numbers).buffer);
}

/** Rounds of the ring, a step that is not whole, tiles that start within an atom, ragged edges. */
const CASES: readonly (readonly [string, number, Values])[] = [
  ["tiles of 64 and 2 columns on", 64, { m: "1+72", n: "8+136", k: "64+1344" }],
  ["tiles of 192 over two atoms", 192, {
    m: "330+17",
    n: "72+8",
    k: "1408+320",
  }],
  ["M-major, in vectors and not", 128, {
    m: "129+40",
    n: "136+40",
    k: "192+1088",
    layout: "nt-mmajor",
  }],
];

for (const [title, MAXN, values] of CASES) {
  Deno.test({
    ...options,
    name: `blackwell.cu computes C on the model of tcgen05: ${title}${skip}`,
    async fn() {
      const { code, log, got, want } = await run(values, {
        MAXN,
        fill: "uniform",
      });
      strictEqual(code, 0, log);
      strictEqual(got.length, want.length);
      const [c, right] = [decode(got, "f16"), decode(want, "f16")];
      right.forEach((x, i) => {
        const off = Math.abs(c[i]! - x);
        ok(off <= 1e-3 + 1e-3 * Math.abs(x), `${i}: ${c[i]}, right is ${x}`);
      });
    },
  });
}

Deno.test({
  ...options,
  name:
    `blackwell.cu has the right bits on the model of tcgen05, and none as a mutant${skip}`,
  async fn() {
    const passed = await Promise.all(
      [undefined, ...blackwellMutants].map(async (mutant) => {
        // With these inputs any order of sums gives the same bits.
        const { code, got, want } = await run({ m: 72, n: 40, k: 320 }, {
          MAXN: 64,
          fill: "normal",
          ...mutant === undefined ? {} : { mutant },
        });
        return code === 0 && got.every((byte, i) => byte === want[i])
          ? [mutant ?? "as it is"]
          : [];
      }),
    );
    deepStrictEqual(passed.flat(), ["as it is"]);
  },
});

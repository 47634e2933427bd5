/**
 * blackwell.cu on the model of tcgen05's instructions, for tests.
 *
 * @module
 */

import { assertStrictEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { encode } from "../../../../../bench/model/dtype.ts";
import type { Values } from "../../../../../bench/model/grid.ts";
import { groupedMatmul } from "../../../op.ts";
import { realProblems } from "../../../point.ts";
import { itemsOf, itemTable, stagesOf } from "../blackwell.ts";

const CXX = "c++";
const found = (() => {
  try {
    return new Deno.Command(CXX, { args: ["--version"] }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();

/** Registers a test that needs a C++ compiler; its name says so where there is none. */
export function modelTest(name: string, fn: () => Promise<void>): void {
  Deno.test({
    name: found ? name : `${name} (ignored: no C++ compiler)`,
    ignore: !found,
    fn,
  });
}

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
  const source = new URL("./model.cpp", import.meta.url);
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
  assertStrictEquals(success, true, new TextDecoder().decode(stderr));
  return binary;
}

/** Runs the kernel on a list: gives C of all problems one after the other, or the error. */
export async function run(
  values: Values,
  { MAXN, fill, mutant }: {
    MAXN: number;
    fill: "normal" | "uniform";
    mutant?: string;
  },
): Promise<{
  readonly code: number;
  readonly log: string;
  readonly got: Uint8Array<ArrayBuffer>;
  readonly want: Uint8Array<ArrayBuffer>;
}> {
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

/** Returns whether the kernel, or its `mutant`, gives the right bits: those of any order of its sums. */
export async function hasRightBits(mutant?: string): Promise<boolean> {
  const { code, got, want } = await run({ m: 72, n: 40, k: 320 }, {
    MAXN: 64,
    fill: "normal",
    ...mutant === undefined ? {} : { mutant },
  });
  return code === 0 && got.every((byte, i) => byte === want[i]);
}

import { assertEquals, assertStrictEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cudaPath } from "../../../backends/testdata/cuda_mocks.ts";
import { cxxTest } from "../../../backends/testdata/mocks.ts";
import { compare } from "../../../bench/measure/assert_close.ts";
import { readAxes } from "../../../bench/model/axes.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { storedBytes } from "../../../bench/model/problem.ts";
import { ops } from "../../../kernels/mod.ts";
import { madeOf } from "../../../kernels/testdata/answers.ts";
import { operandsOf, prefixOf } from "./header.ts";
import { keyAxes, numberOf } from "./tables.ts";
import { exported, run } from "./testdata/exported.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/run.c", import.meta.url));

/** Exports `kernel` at one point, calls it in C, and compares with the reference of the operation. */
async function test(
  name: string,
  { kernel, values, pdl }: {
    readonly kernel: string;
    readonly values: Values;
    readonly pdl: boolean;
  },
) {
  const { op } = ops.find(({ op }) => op.name === name)!;
  const overrides = Object.fromEntries(
    Object.entries(values).map(([axis, value]) => [axis, [value]]),
  );
  await exported(name, [kernel], overrides, async (out) => {
    const folder = dirname(out);
    const prefix = prefixOf(op);
    const program = join(folder, "run");
    const compiled = await run("cc", [
      ...["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"],
      `-DMNK_CUDA_LIBRARY="${cudaPath()}"`,
      `-DPREFIX=${prefix}`,
      `-DEXPORT="${join(out, `${prefix}.h`)}"`,
      ...["-o", program, PROGRAM, "-ldl"],
    ]);
    assertStrictEquals(compiled.code, 0, compiled.stderr);

    const point = op.point(values);
    const { inputs, right } = madeOf(op, point);
    const operands = op.operands(point);
    const ins = operands.filter(({ role }) => role === "in");
    const words = await Promise.all(
      operandsOf(op, []).map(async ({ name }) => {
        const operand = operands.find((one) => one.name === name);
        if (!operand) return "-";
        const file = join(folder, `${name}.operand`);
        if (operand.role === "out") {
          return `out:${file}:${storedBytes(operand)}`;
        }
        await Deno.writeFile(file, inputs[ins.indexOf(operand)]!);
        return `in:${file}`;
      }),
    );
    const read = readAxes(op, values);
    const axes = keyAxes(op).map((axis) => {
      const value = read[axis.name];
      return value === undefined ? 0 : numberOf(axis, value);
    });
    const call = (given: readonly number[]) =>
      run(program, [
        join(out, `${prefix}.bin`),
        ...[read.m!, ...given].map(String),
        ...words,
      ]);
    const { code, stderr } = await call(axes);
    assertStrictEquals(code, 0, stderr);
    const outs = operands.filter(({ role }) => role === "out");
    for (const [i, operand] of outs.entries()) {
      const bytes = await Deno.readFile(
        join(folder, `${operand.name}.operand`),
      );
      const { wrong } = compare(
        { operand, bytes, right: right[i]! },
        op.tolerance(point),
      );
      assertStrictEquals(wrong, undefined);
    }
    // One axis after the other has another value.
    for (const at of axes.keys()) {
      const { code, stderr } = await call(axes.with(at, 77));
      assertEquals([code, /: 1 \(no exported kernel/.test(stderr)], [2, true]);
    }
  }, pdl);
}

/**
 * A kernel of each operation but matmul, whose program tests it, as far as the emulator runs them; with
 * `--pdl` where that is said.
 */
const CASES: readonly (readonly [string, string, Values, "--pdl"?])[] = [
  ["swiglu", "fused", { m: 5, n: 40, k: 136 }],
  ["swiglu", "fused", { m: 17, n: 33, k: 256, type: "f16" }, "--pdl"],
  ["qmm", "qmv", { m: 2, n: 40, k: 256, bits: 4, group: 64 }, "--pdl"],
  ["qmm", "qmv", { m: 3, n: 64, k: 96, layout: "nn", bits: 4, group: 32 }],
  ["qmm", "qmm", { m: 9, n: 40, k: 320, mode: "mxfp4" }, "--pdl"],
  ["qmm", "qmm-splitk", { m: 9, n: 40, k: 640, bits: 8, group: "channel" }],
  ["qmm", "qmm-wgmma", { m: 33, n: 64, k: 512, type: "f16", bits: 3 }, "--pdl"],
  ["qmm", "qmm-wgmma", { m: 33, n: 128, k: 512, layout: "nn" }],
  ["qmm", "qmm-wgmma", { m: 33, n: 512, k: 512, layout: "nn" }],
];

for (const [name, kernel, values, flag = ""] of CASES) {
  cxxTest(
    `an exported ${kernel} of ${name} is right on the emulator at ${
      JSON.stringify(values)
    } ${flag}`.trimEnd(),
    () => test(name, { kernel, values, pdl: flag === "--pdl" }),
  );
}

const GROUPS = `#include EXPORT
int main(void) {
  mnk_qmm_args args = {0};
  size_t bytes;
  args.m = 2, args.n = 64, args.k = 100, args.bits = 4, args.group = 64;
  const int bad = mnk_qmm(NULL, &args, NULL) == MNK_BAD_GROUP && mnk_qmm_workspace(&args, &bytes) == MNK_BAD_GROUP;
  args.layout = MNK_QMM_LAYOUT_NN, args.k = 128;
  /* A row of these weights is whole groups, and no context was given. */
  const int good = mnk_qmm(NULL, &args, NULL) == MNK_NULL_POINTER && mnk_qmm_workspace(&args, &bytes) == MNK_UNKNOWN_SHAPE;
  args.layout = 0, args.group = MNK_QMM_GROUP_CHANNEL;
  return bad && good && mnk_qmm_workspace(&args, &bytes) == MNK_UNKNOWN_SHAPE ? 0 : 1;
}
`;

cxxTest(
  "an export of qmm has a status for K that is no multiple of the group",
  async () => {
    const overrides = { m: [2], n: [64], k: [128], bits: [4], group: [64] };
    await exported("qmm", ["qmv"], overrides, async (out) => {
      const source = join(dirname(out), "groups.c");
      await Deno.writeTextFile(source, GROUPS);
      const program = join(dirname(out), "groups");
      const compiled = await run("cc", [
        ...["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"],
        ...[`-DEXPORT="${join(out, "mnk_qmm.h")}"`, "-o", program, source],
        "-ldl",
      ]);
      assertStrictEquals(compiled.code, 0, compiled.stderr);
      assertStrictEquals((await run(program, [])).code, 0);
    });
  },
);

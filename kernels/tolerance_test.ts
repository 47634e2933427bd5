/** The tolerance of each operation and type: its source, and results on either side of it. */

import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStrictEquals,
} from "@std/assert";
import { compare } from "../bench/measure/assert_close.ts";
import { decode, type DType, encode } from "../bench/model/dtype.ts";
import type { Op } from "../bench/model/op.ts";
import { matmul } from "./matmul/mod.ts";
import { ops } from "./mod.ts";
import { madeOf } from "./testdata/answers.ts";
import { title } from "./testdata/cases.ts";

/**
 * By operation and output type: rtol and atol as their source has them, and the significant
 * bits of the nearest narrower format, to which a result may not be rounded.
 */
const TOLERANCES: Readonly<
  Record<string, Partial<Record<DType, readonly [number, number, number]>>>
> = {
  // The decompose-k measurements; TF32 has 11 bits, E4M3 4.
  matmul: {
    f32: [1e-4, 1e-3, 11],
    f16: [2e-2, 1e-2, 4],
    bf16: [2e-2, 1e-2, 4],
  },
  // MLX's tests of quantised products, whose outputs are below 1: bf16 would do for f16.
  qmm: { f16: [1e-3, 1e-3, 4], bf16: [1e-2, 1e-3, 4] },
  // GPU MODE's nvfp4_group_gemm; bf16 has 8 bits.
  "grouped-matmul": { f16: [1e-3, 1e-3, 8] },
  "scaled-matmul": { bf16: [2e-2, 1e-2, 4] },
  // That of matmul.
  swiglu: { f16: [2e-2, 1e-2, 4], bf16: [2e-2, 1e-2, 4] },
};

/** Rounds to `bits` significant bits, to nearest; the exponent is not limited. */
function rounded(x: number, bits: number): number {
  if (x === 0) return 0;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(x))) - bits + 1);
  return Math.round(x / unit) * unit;
}

/** The right answer of the point of `op` with the most outputs of `type`, and a check of others. */
function checkerOf<P>(op: Op<P>, type: DType) {
  const outputOf = (point: P) =>
    op.operands(point).filter(({ role }) => role === "out");
  const [point] = op.edgeCases.filter((p) => outputOf(p)[0]!.type === type)
    .toSorted((a, b) =>
      op.operands(b).at(-1)!.rows * op.operands(b).at(-1)!.cols -
      op.operands(a).at(-1)!.rows * op.operands(a).at(-1)!.cols
    );
  assert(point !== undefined, `${op.name} has no edge-case shape of ${type}`);
  const right = madeOf(op, point).right[0]!;
  const [output] = outputOf(point);
  const dense = { ...output!, ld: output!.cols };
  const tolerance = op.tolerance(point);
  return {
    at: title(op, point),
    tolerance,
    right,
    /** Whether values are taken for right, stored as `type` where that is given. */
    passes: (values: Float64Array<ArrayBuffer>, stored: DType) =>
      compare({
        operand: { ...dense, type: stored },
        bytes: encode(values, stored),
        right,
      }, tolerance).wrong === undefined,
  };
}

Deno.test("the table has each operation and output type", () => {
  for (const { op } of ops) {
    const types = op.edgeCases.map((point) =>
      op.operands(point).find(({ role }) => role === "out")!.type
    );
    assertEquals(
      new Set(types),
      new Set(Object.keys(TOLERANCES[op.name] ?? {})),
      op.name,
    );
  }
});

Deno.test("matmul allows more of an element near 0 above the K of its source, and no less than bits() asks", () => {
  for (const [type, [, atol]] of Object.entries(TOLERANCES.matmul!)) {
    const at = (k: number) => matmul.point({ m: 16, n: 16, k, type });
    const atolOf = (k: number) => matmul.tolerance(at(k)).atol;
    for (const k of [1, 8192, 32_768]) assertStrictEquals(atolOf(k), atol);
    for (const k of [32_769, 65_536, 2 ** 20]) {
      assertAlmostEquals(atolOf(4 * k), 2 * atolOf(k), 1e-12);
      if (type !== "f32") continue;
      const deviation = 2 ** -matmul.bits!(at(k))! * Math.sqrt(k);
      assert(Math.abs(atolOf(k) / deviation - 5) < 0.1);
    }
  }
});

for (const { op } of ops) {
  for (const [name, entry] of Object.entries(TOLERANCES[op.name] ?? {})) {
    const type = name as DType;
    const [rtol, atol, narrower] = entry;

    Deno.test(`${op.name} in ${type} has the tolerance of its source, and no more`, () => {
      const { passes, right, tolerance, at } = checkerOf(op, type);
      assertEquals(tolerance, { rtol, atol }, at);
      // Compared in f64: what is stored rounds.
      for (const which of [0, right.length - 1]) {
        const beside = (share: number) =>
          right.map((x, i) =>
            i === which ? x + share * (atol + rtol * Math.abs(x)) : x
          );
        assertStrictEquals(passes(beside(0.999), "f64"), true, at);
        assertStrictEquals(passes(beside(-0.999), "f64"), true, at);
        assertStrictEquals(passes(beside(1.001), "f64"), false, at);
        assertStrictEquals(passes(beside(-1.001), "f64"), false, at);
      }
    });

    Deno.test(`${op.name} in ${type} takes its own rounding, and not that to ${narrower} bits`, () => {
      const { passes, right, at } = checkerOf(op, type);
      assert(passes(right, type), `${at}: the right answer fails`);
      const narrow = right.map((x) => rounded(x, narrower));
      assert(!passes(narrow, type), `${at}: ${narrower} bits pass`);
      // Stored types round further.
      assert(decode(encode(right, type), type).every(Number.isFinite));
    });
  }
}

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { decode, encode } from "../../../../bench/model/dtype.ts";
import { matmul } from "../../op.ts";
import type { MatmulPoint } from "../../point.ts";
import { product } from "../../reference.ts";
import { atomicTolerance, splitkAtomic, splitkPartials } from "./splitk.ts";

const TYPES = ["bf16", "f16"] as const;
/** The most of AITER's range, whatever K: what is allowed grows with it. */
const MOST_SPLITS = 13;

function pointOf(type: "bf16" | "f16", k: number, m = 8): MatmulPoint {
  return matmul.point({ m, n: 64, k, type, layout: "nt" });
}

/** How many of `values` are not within a tolerance of `right`. */
function mismatches(
  values: Float64Array,
  right: Float64Array,
  { rtol, atol }: { rtol: number; atol: number },
): number {
  return values.filter((x, i) =>
    !(Math.abs(x - right[i]!) <= atol + rtol * Math.abs(right[i]!))
  ).length;
}

for (const type of TYPES) {
  Deno.test(`atomicTolerance() lets ${type} sums of splits pass, the operation's does not`, () => {
    const point = pointOf(type, 7168, 64);
    const rounded = (x: Float64Array) =>
      decode(encode(x as Float64Array<ArrayBuffer>, type), type);
    const inputs = matmul.inputs(point, { seed: 3, fill: "normal" });
    const [a, b] = inputs.map((bytes) => decode(bytes, type));
    const right = matmul.reference(point, inputs).all(0);
    const SPLIT = 8;
    let sum: Float64Array = new Float64Array(right.length);
    // Any order will do; this one is not the natural one.
    for (const split of [3, 0, 7, 5, 1, 6, 2, 4]) {
      const slice = point.k / SPLIT;
      const part = rounded(
        product(point, a!, b!, split * slice, (split + 1) * slice),
      );
      sum = rounded(sum.map((x, i) => x + part[i]!));
    }
    strictEqual(mismatches(sum, right, atomicTolerance(point, { SPLIT })), 0);
    ok(mismatches(sum, right, matmul.tolerance(point)) > 0);
  });

  for (const k of [256, 2880, 7168]) {
    Deno.test(`atomicTolerance() rejects the mutants of matmul in ${type} at K = ${k}`, () => {
      const point = pointOf(type, k);
      const inputs = matmul.inputs(point, { seed: 0, fill: "normal" });
      const right = matmul.reference(point, inputs);
      const tolerance = atomicTolerance(point, { SPLIT: MOST_SPLITS });
      const passed = matmul.mutants(point, inputs, right).filter((
        { outputs },
      ) => mismatches(outputs[0]!, right.all(0), tolerance) === 0);
      deepStrictEqual(passed.map(({ name }) => name), []);
    });
  }
}

Deno.test("atomicTolerance() grows with K and splits, and is wider than the operation's", () => {
  const atolOf = (k: number, SPLIT: number) =>
    atomicTolerance(pointOf("bf16", k), { SPLIT }).atol;
  ok(atolOf(7168, 8) > atolOf(7168, 7));
  ok(atolOf(7168, 8) > atolOf(2048, 8));
  ok(atolOf(256, 1) > matmul.tolerance(pointOf("bf16", 256)).atol);
  // Sixteenfold K, four times the spread.
  const spread = (k: number) => atolOf(k, 8) - 1e-2;
  ok(Math.abs(spread(16 * 448) / spread(448) - 4) < 1e-9);
});

Deno.test("splitkAtomic has a tolerance of its own, and splitkPartials has none", () => {
  const point = pointOf("bf16", 7168);
  deepStrictEqual(
    splitkAtomic.tolerance!(point, { SPLIT: 8 }),
    atomicTolerance(point, { SPLIT: 8 }),
  );
  strictEqual(splitkPartials.tolerance, undefined);
});

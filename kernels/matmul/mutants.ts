/**
 * Wrong products that a check must reject: mistakes of split-K kernels.
 *
 * @module
 */

import { decode } from "../../bench/model/dtype.ts";
import type { Mutant, Reference } from "../../bench/model/problem.ts";
import { mutants, without, wrongTile } from "../common/operands.ts";
import { product, storedMatrix } from "../common/product.ts";
import { hasRelu, type MatmulPoint } from "./point.ts";

/** The slices of K of a split-K kernel. */
const SLICES = 16;

/** The mistakes, with the outputs that they would give at `point`. */
export function mutantsOf(
  point: MatmulPoint,
  inputs: readonly Uint8Array<ArrayBuffer>[],
  right: Reference,
): Mutant[] {
  const { m, n, k, type, lda, ldb } = point;
  const a = storedMatrix(inputs[0]!, type, lda);
  const b = storedMatrix(inputs[1]!, type, ldb);
  const bias = inputs[2] && decode(inputs[2], type);
  const relu = hasRelu(point);
  const finish = (sums: Float64Array<ArrayBuffer>, clamp = relu) =>
    sums.map((sum, i) => {
      const x = sum + (bias ? bias[i % n]! : 0);
      return clamp ? Math.max(x, 0) : x;
    });
  const slice = Math.ceil(k / SLICES);
  const sums = product(point, a, b);
  const first = product(point, a, b, [0, slice]);
  return mutants(
    ["zeros", new Float64Array(m * n)],
    slice < k && ["first slice only", finish(first)],
    slice < k && ["dropped K slice", finish(without(sums, first))],
    wrongTile(right.all(0), point),
    relu && m * n > 1 && ["no ReLU", finish(sums, false)],
    bias !== undefined &&
      ["no bias", sums.map((x) => relu ? Math.max(x, 0) : x)],
  );
}

/**
 * x · Wᵀ or x · W in double precision, a row of the stored weights at a time.
 *
 * @module
 */

import { type QmmPoint, weightShape } from "./point.ts";

/** The factors of a product. */
interface Factors {
  /** `m × k` activations. */
  readonly x: Float64Array;
  /** A row of the stored weights. */
  readonly row: (index: number) => ArrayLike<number>;
}

/** The m × n sums over k in [`from`, `to`). */
export function product(
  point: QmmPoint,
  { x, row }: Factors,
  [from, to]: readonly [number, number] = [0, point.k],
): Float64Array<ArrayBuffer> {
  const { m, n, k, transposed } = point;
  const sums = new Float64Array(m * n);
  if (transposed) {
    for (let j = 0; j < weightShape(point).rows; j++) {
      const w = row(j);
      for (let i = 0; i < m; i++) {
        let sum = 0;
        for (let p = from; p < to; p++) sum += x[i * k + p]! * w[p]!;
        sums[i * n + j] = sum;
      }
    }
    return sums;
  }
  for (let p = from; p < to; p++) {
    const w = row(p);
    for (let i = 0; i < m; i++) {
      const factor = x[i * k + p]!;
      for (let j = 0; j < n; j++) sums[i * n + j]! += factor * w[j]!;
    }
  }
  return sums;
}

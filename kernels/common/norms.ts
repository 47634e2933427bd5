/**
 * Computes the size of the terms that elements of a product are sums of.
 *
 * @module
 */

/** Returns a vector of `k` values for each of `indices`, of which `at` gives one. */
export function vectors(
  indices: readonly number[],
  k: number,
  at: (index: number, p: number) => number,
): Float64Array<ArrayBuffer>[] {
  return indices.map((index) => {
    const vector = new Float64Array(k);
    for (let p = 0; p < k; p++) vector[p] = at(index, p);
    return vector;
  });
}

/**
 * Returns √Σ(xₖ·wₖ)² for each of `xs` with each of `ws`, by which the errors of sums are measured.
 *
 * @param xs Rows of A, as numbers.
 * @param ws Columns of B, as numbers.
 */
export function norms(
  xs: readonly ArrayLike<number>[],
  ws: readonly ArrayLike<number>[],
): Float64Array<ArrayBuffer> {
  const all = new Float64Array(xs.length * ws.length);
  for (const [i, x] of xs.entries()) {
    for (const [j, w] of ws.entries()) {
      let sum = 0;
      for (let k = 0; k < x.length; k++) sum += (x[k]! * w[k]!) ** 2;
      all[i * ws.length + j] = Math.sqrt(sum);
    }
  }
  return all;
}

/**
 * A · B in double precision, in blocks of K that stay in a cache.
 *
 * @module
 */

/** Shapes, layout and leading dimensions of a product. */
interface ProductShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly layout: "nn" | "nt";
  readonly lda: number;
  readonly ldb: number;
}

/** Rows of B that stay in a cache of 1 MiB while all rows of A go by. */
const CACHED = 1 << 17;

/** The m × n sums over k in [`from`, `to`), unpadded. */
export function product(
  { m, n, k, layout, lda, ldb }: ProductShape,
  a: Float64Array,
  b: Float64Array,
  from = 0,
  to = k,
): Float64Array<ArrayBuffer> {
  const sums = new Float64Array(m * n);
  const block = Math.max(1, Math.floor(CACHED / n));
  for (let start = from; start < to; start += block) {
    const end = Math.min(to, start + block);
    for (let i = 0; i < m; i++) {
      if (layout === "nn") {
        for (let p = start; p < end; p++) {
          const x = a[i * lda + p]!;
          for (let j = 0; j < n; j++) sums[i * n + j]! += x * b[p * ldb + j]!;
        }
      } else {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let p = start; p < end; p++) {
            sum += a[i * lda + p]! * b[j * ldb + p]!;
          }
          sums[i * n + j]! += sum;
        }
      }
    }
  }
  return sums;
}

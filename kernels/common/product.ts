/**
 * Computes A · B in double precision on the host: all elements or a few. A large matrix is decoded in
 * parts.
 *
 * @module
 */

import { BYTES, decode, type DType, picker } from "../../bench/model/dtype.ts";

/** A matrix that is decoded some rows at a time. */
export interface Matrix {
  /** Elements from one row to the next. */
  readonly ld: number;
  /** Returns `count` rows from `first` on, padding included. */
  rows(first: number, count: number): Float64Array;
}

/** Makes the matrix of stored elements `bytes`, with rows of `ld` elements of `type`. */
export function storedMatrix(
  bytes: Uint8Array<ArrayBuffer>,
  type: DType,
  ld: number,
): Matrix {
  const row = ld * BYTES[type];
  const rows = (first: number, count: number) =>
    decode(bytes.subarray(first * row, (first + count) * row), type);
  return { ld, rows };
}

/** Makes the matrix whose row `index`, of `ld` elements, `row(index)` returns. */
export function rowsMatrix(
  ld: number,
  row: (index: number) => ArrayLike<number>,
): Matrix {
  const rows = (first: number, count: number) => {
    const all = new Float64Array(count * ld);
    for (let i = 0; i < count; i++) all.set(row(first + i), i * ld);
    return all;
  };
  return { ld, rows };
}

/** The shape of a product, and how B is stored: [k, n] (`nn`) or [n, k] (`nt`). */
interface ProductShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly layout: "nn" | "nt";
}

/** Elements of B that are decoded at a time: they stay in the cache for all rows of A. */
const CACHED = 1 << 15;
/** Elements of a row of A that stay in a first-level cache. */
const SPAN = 1 << 11;

/** Returns the m × n sums over k in [`from`, `to`), without padding. Each is summed in the order of k. */
export function product(
  { m, n, k, layout }: ProductShape,
  a: Matrix,
  b: Matrix,
  [from, to]: readonly [number, number] = [0, k],
): Float64Array<ArrayBuffer> {
  const sums = new Float64Array(m * n);
  const left = { values: a.rows(0, m), ld: a.ld };
  // A multiple of four, as the loops are unrolled four times.
  const some = Math.max(4, Math.floor(CACHED / b.ld / 4) * 4);
  const [start, end] = layout === "nn" ? [from, to] : [0, n];
  for (let first = start; first < end; first += some) {
    const count = Math.min(some, end - first);
    const right = { values: b.rows(first, count), ld: b.ld };
    if (layout === "nn") addRows(sums, { m, n, left, right, first, count });
    else addColumns(sums, { m, n, left, right, first, count, from, to });
  }
  return sums;
}

interface Block {
  readonly m: number;
  readonly n: number;
  readonly left: { readonly values: Float64Array; readonly ld: number };
  /** Stored rows of B from `first` on. */
  readonly right: { readonly values: Float64Array; readonly ld: number };
  readonly first: number;
  readonly count: number;
}

/** Adds the products of rows of B [k, n] to all sums. */
function addRows(
  sums: Float64Array,
  { m, n, left, right, first, count }: Block,
): void {
  const [x, w, ld] = [left.values, right.values, right.ld];
  for (let i = 0; i < m; i++) {
    const at = i * left.ld + first;
    const own = i * n;
    let p = 0;
    for (; p + 4 <= count; p += 4) {
      const x0 = x[at + p]!;
      const x1 = x[at + p + 1]!;
      const x2 = x[at + p + 2]!;
      const x3 = x[at + p + 3]!;
      const w0 = p * ld;
      const w1 = w0 + ld;
      const w2 = w1 + ld;
      const w3 = w2 + ld;
      for (let j = 0; j < n; j++) {
        sums[own + j] = sums[own + j]! + x0 * w[w0 + j]! + x1 * w[w1 + j]! +
          x2 * w[w2 + j]! + x3 * w[w3 + j]!;
      }
    }
    for (; p < count; p++) {
      const x0 = x[at + p]!;
      const w0 = p * ld;
      for (let j = 0; j < n; j++) sums[own + j]! += x0 * w[w0 + j]!;
    }
  }
}

/** Computes the sums of rows of B [n, k]. */
function addColumns(
  sums: Float64Array,
  { m, n, left, right, first, count, from, to }: Block & {
    readonly from: number;
    readonly to: number;
  },
): void {
  const [x, w, ld] = [left.values, right.values, right.ld];
  for (let start = from; start < to; start += SPAN) {
    const length = Math.min(SPAN, to - start);
    for (let i = 0; i < m; i++) {
      const at = i * left.ld + start;
      const own = i * n + first;
      let j = 0;
      for (; j + 4 <= count; j += 4) {
        const w0 = j * ld + start;
        const w1 = w0 + ld;
        const w2 = w1 + ld;
        const w3 = w2 + ld;
        let s0 = sums[own + j]!;
        let s1 = sums[own + j + 1]!;
        let s2 = sums[own + j + 2]!;
        let s3 = sums[own + j + 3]!;
        for (let p = 0; p < length; p++) {
          const value = x[at + p]!;
          s0 += value * w[w0 + p]!;
          s1 += value * w[w1 + p]!;
          s2 += value * w[w2 + p]!;
          s3 += value * w[w3 + p]!;
        }
        sums[own + j] = s0;
        sums[own + j + 1] = s1;
        sums[own + j + 2] = s2;
        sums[own + j + 3] = s3;
      }
      for (; j < count; j++) {
        const w0 = j * ld + start;
        let sum = sums[own + j]!;
        for (let p = 0; p < length; p++) sum += x[at + p]! * w[w0 + p]!;
        sums[own + j] = sum;
      }
    }
  }
}

type Vector = ArrayLike<number>;

/** Computes single elements of a product from the rows of A and the columns of B that they need. */
export class SampledProduct {
  readonly #rows = new Map<number, Vector>();
  readonly #columns = new Map<number, Vector>();

  /**
   * @param n Columns of the product.
   * @param row Returns a row of A, of k elements.
   * @param column Returns a column of B, of k elements.
   */
  constructor(
    readonly n: number,
    readonly row: (index: number) => Vector,
    readonly column: (index: number) => Vector,
  ) {}

  /** Returns the elements `indices`, which are row · n + column. */
  at(indices: readonly number[]): Float64Array<ArrayBuffer> {
    return Float64Array.from(indices, (index) => {
      const x = this.#row(Math.floor(index / this.n));
      return sumOfProducts(x, this.#column(index % this.n));
    });
  }

  /**
   * Returns √Σ(xₖ·wₖ)², the scale of the rounding error, of the elements at `rows` × `columns`, row by
   * row.
   */
  norms(
    rows: readonly number[],
    columns: readonly number[],
  ): Float64Array<ArrayBuffer> {
    const all = new Float64Array(rows.length * columns.length);
    for (const [i, row] of rows.entries()) {
      const x = this.#row(row);
      for (const [j, column] of columns.entries()) {
        const sum = sumOfSquares(x, this.#column(column));
        all[i * columns.length + j] = Math.sqrt(sum);
      }
    }
    return all;
  }

  #row(index: number): Vector {
    return memoized(this.#rows, index, this.row);
  }

  #column(index: number): Vector {
    return memoized(this.#columns, index, this.column);
  }
}

/**
 * Returns Σ xₖ·wₖ, in four independent sums. They are separate variables because `let [s0, s1] = [0, 0]`
 * makes them heap numbers, which takes 2.5 times as long.
 */
function sumOfProducts(x: Vector, w: Vector): number {
  const { length } = x;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let p = 0;
  for (; p + 4 <= length; p += 4) {
    s0 += x[p]! * w[p]!;
    s1 += x[p + 1]! * w[p + 1]!;
    s2 += x[p + 2]! * w[p + 2]!;
    s3 += x[p + 3]! * w[p + 3]!;
  }
  for (; p < length; p++) s0 += x[p]! * w[p]!;
  return s0 + s1 + (s2 + s3);
}

/** Returns Σ(xₖ·wₖ)², computed as in {@linkcode sumOfProducts}. */
function sumOfSquares(x: Vector, w: Vector): number {
  const { length } = x;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let p = 0;
  for (; p + 4 <= length; p += 4) {
    s0 += (x[p]! * w[p]!) ** 2;
    s1 += (x[p + 1]! * w[p + 1]!) ** 2;
    s2 += (x[p + 2]! * w[p + 2]!) ** 2;
    s3 += (x[p + 3]! * w[p + 3]!) ** 2;
  }
  for (; p < length; p++) s0 += (x[p]! * w[p]!) ** 2;
  return s0 + s1 + (s2 + s3);
}

function memoized(
  vectors: Map<number, Vector>,
  index: number,
  make: (index: number) => Vector,
): Vector {
  let vector = vectors.get(index);
  if (!vector) vectors.set(index, vector = make(index));
  return vector;
}

/** Returns the functions that decode a row and a column of `k` stored elements. */
export function linesOf(
  bytes: Uint8Array<ArrayBuffer>,
  type: DType,
  { ld, k }: { readonly ld: number; readonly k: number },
) {
  const line = picker(bytes, type);
  return {
    row: (index: number) => line({ first: index * ld, step: 1, count: k }),
    column: (index: number) => line({ first: index, step: ld, count: k }),
  };
}

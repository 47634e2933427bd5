/**
 * Chooses elements that stand for all.
 *
 * @module
 */

import type { Below } from "./changes.ts";

/** Some rows and columns of an output, and two elements in each of them. */
export interface Crossings {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly indices: readonly number[];
}

/**
 * Chooses so many rows and columns of an output at random, and two elements in each: to read a row
 * or a column of the inputs takes longer than to multiply two.
 */
export function sampleCrossings(
  { rows, cols }: { readonly rows: number; readonly cols: number },
  lines: number,
  below: Below,
): Crossings {
  const some = (of: number) => Array.from({ length: lines }, () => below(of));
  const [own, columns] = [some(rows), some(cols)];
  const indices = own.flatMap((row, i) =>
    [i, (i + 1) % lines].map((j) => row * cols + columns[j]!)
  );
  return { rows: own, columns, indices };
}

/**
 * At most `limit` of `0 … length - 1`, spread by the golden ratio: a fixed step that
 * divides a row would look at the same columns of every row.
 */
export function spreadIndices(length: number, limit: number): number[] {
  if (length <= limit) return Array.from({ length }, (_, i) => i);
  const golden = (Math.sqrt(5) - 1) / 2;
  return Array.from(
    { length: limit },
    (_, i) => Math.floor((i * golden) % 1 * length),
  );
}

/**
 * Chooses elements that stand for all.
 *
 * @module
 */

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

/**
 * Which tile sides cover a side of the output without being mostly padding.
 *
 * @module
 */

/** The least power of two, from `least` on, that covers `size`: at least half of it is used. */
export function covering(size: number, least = 16): number {
  return Math.max(least, 2 ** Math.ceil(Math.log2(size)));
}

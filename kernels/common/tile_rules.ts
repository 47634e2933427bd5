/**
 * Rules that tiles and K slices obey on every backend.
 *
 * @module
 */

import { LEAST_SLICE, type Sizes } from "./splits.ts";

/** A tile of the output, its K step, and the number of K slices. */
export interface SplitTile {
  readonly BM: number;
  readonly BN: number;
  readonly BK: number;
  readonly SPLIT: number;
}

/** The least power of two, from `least` on, that covers `size`: at least half of it is used. */
export function covering(size: number, least = 16): number {
  return Math.max(least, 2 ** Math.ceil(Math.log2(size)));
}

/** Requires slices of equal length. */
export function equalSlices(
  { k }: Sizes,
  { SPLIT }: Pick<SplitTile, "SPLIT">,
): string | undefined {
  return k % SPLIT === 0
    ? undefined
    : `K=${k} is no multiple of SPLIT=${SPLIT}`;
}

/** Requires slices of at least one k16 step. */
export function longSlices(
  { k }: Sizes,
  { SPLIT }: Pick<SplitTile, "SPLIT">,
): string | undefined {
  return SPLIT === 1 || k / SPLIT >= LEAST_SLICE
    ? undefined
    : `a slice of ${k / SPLIT} is shorter than ${LEAST_SLICE}`;
}

/** Requires that at least half of a tile is output; `leastColumns` are always allowed. */
export function fullTiles(
  { m, n }: Sizes,
  { BM, BN }: Pick<SplitTile, "BM" | "BN">,
  leastColumns = 16,
): string | undefined {
  if (BM > covering(m)) return `more than half of BM=${BM} would be padding`;
  return BN > covering(n, leastColumns)
    ? `more than half of BN=${BN} would be padding`
    : undefined;
}

/** Requires that at least half of a K step is in the slice; `least` is always allowed. */
export function fullSteps(
  { k }: Sizes,
  { BK, SPLIT }: Pick<SplitTile, "BK" | "SPLIT">,
  least = 16,
): string | undefined {
  return BK <= covering(k / SPLIT, least)
    ? undefined
    : `more than half of BK=${BK} would be padding`;
}

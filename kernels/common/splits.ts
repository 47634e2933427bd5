/**
 * Splits of K into equal slices, and the rules that tiles and slices obey on every backend.
 *
 * @module
 */

import { nextPowerOfTwo, padding } from "./rules.ts";

/** The sizes of a product. */
interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The shortest slice that PyTorch's Inductor cuts. */
const INDUCTOR_SLICE = 128;
/** The shortest slice of the power-of-two splits: one k16 step of the tensor cores. */
const LEAST_SLICE = 16;

/**
 * The splits that PyTorch's Inductor tries (`get_k_splits`), best guess first.
 *
 * They are divisors of K that are at least 2 and at most K / M and K / N (but 2 always may
 * be), with slices of at least 128; first those whose slice is a power of two, then a
 * multiple of 32, then the rest.
 *
 * @param limit How many to return at most.
 *
 * @example
 * ```ts
 * import { inductorSplits } from "./splits.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(inductorSplits({ m: 16, n: 16, k: 1536 }, 10), [3, 6, 12, 2, 4, 8]);
 * ```
 */
export function inductorSplits(sizes: Sizes, limit: number): number[] {
  const { k } = sizes;
  const most = Math.min(largest(sizes), Math.floor(k / INDUCTOR_SLICE));
  const ranks: [number[], number[], number[]] = [[], [], []];
  for (let split = 2; split <= most; split++) {
    if (k % split !== 0) continue;
    const slice = k / split;
    ranks[isPowerOfTwo(slice) ? 0 : slice % 32 === 0 ? 1 : 2].push(split);
  }
  return ranks.flat().slice(0, limit);
}

/**
 * The powers of two from 2 to 256 that divide K into slices of at least 16 and are at most
 * K / M and K / N, then those of {@linkcode inductorSplits} (16 at most) that are not
 * among them.
 */
export function optimizedSplits(sizes: Sizes): number[] {
  const { m, n, k } = sizes;
  const most = Math.min(Math.floor(k / m), Math.floor(k / n));
  const powers = [2, 4, 8, 16, 32, 64, 128, 256].filter((split) =>
    split <= most && k % split === 0 && k / split >= LEAST_SLICE
  );
  return [...new Set([...powers, ...inductorSplits(sizes, 16)])];
}

function largest({ m, n, k }: Sizes): number {
  return Math.max(2, Math.min(Math.floor(k / m), Math.floor(k / n)));
}

function isPowerOfTwo(x: number): boolean {
  return Number.isInteger(Math.log2(x));
}

/** Returns why K cannot be cut as Inductor does. */
export function noSplit({ m, n, k }: Sizes): string {
  return `no split of K=${k} is legal: it takes a divisor of K from 2 to min(K/M, K/N) = ${
    Math.min(Math.floor(k / m), Math.floor(k / n))
  } with slices of at least ${INDUCTOR_SLICE}`;
}

/** A tile of the output, its K step, and the number of K slices. */
interface SplitTile {
  readonly BM: number;
  readonly BN: number;
  readonly BK: number;
  readonly SPLIT: number;
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
  return padding("BM", BM, nextPowerOfTwo(m)) ??
    padding("BN", BN, nextPowerOfTwo(n, leastColumns));
}

/** Requires that at least half of a K step is in the slice; `least` is always allowed. */
export function fullSteps(
  { k }: Sizes,
  { BK, SPLIT }: Pick<SplitTile, "BK" | "SPLIT">,
  least = 16,
): string | undefined {
  return padding("BK", BK, nextPowerOfTwo(k / SPLIT, least));
}

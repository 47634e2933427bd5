/**
 * Splits K into equal slices.
 *
 * @module
 */

/** The sizes of a product. */
export interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The shortest slice that PyTorch's Inductor cuts. */
const INDUCTOR_SLICE = 128;
/** The shortest slice of the power-of-two splits: one k16 step of the tensor cores. */
export const LEAST_SLICE = 16;

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

/**
 * Order statistics of samples.
 *
 * @module
 */

import { mean, sampleStandardDeviation } from "simple-statistics";

/** What a row says of its samples. */
export interface Summary {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
  readonly min: number;
  readonly mean: number;
}

/**
 * The `q`-quantile of ascending `sorted`, linear between neighbours, as in NumPy and
 * Triton: the position is q·(n-1).
 *
 * @example
 * ```ts
 * import { quantile } from "./stats.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(quantile([1, 2, 3, 10], 0.5), 2.5);
 * ```
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

/** The median, quartiles, least and mean of `samples`; none is dropped as an outlier. */
export function summarize(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    q1: quantile(sorted, 0.25),
    q3: quantile(sorted, 0.75),
    min: sorted[0]!,
    mean: mean(sorted),
  };
}

/** The spread of the medians of several runs; undefined for one run. */
export function spread(medians: readonly number[]): number | undefined {
  return medians.length > 1 ? sampleStandardDeviation([...medians]) : undefined;
}

/**
 * Order statistics of samples.
 *
 * @module
 */

import { mean, sampleStandardDeviation } from "simple-statistics";

/** What a row says of its samples. */
export interface Summary {
  /** See {@linkcode phasedMedian}. */
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

/** Samples after which a series of launches meets the driver in the same state again. */
export const PHASES = 16;
/** Samples of a phase, on average, from which its median is worth more than none. */
const LEAST_OF_A_PHASE = 2;

/**
 * The median of ordered `samples`: of each of the {@linkcode PHASES} residues of the index
 * the median, and the mean of these.
 *
 * The times of several launches lie in modes, one for each state of the driver, and the
 * median of a mixture of two modes lies in the gap between them, anywhere. Each residue
 * has one state only. Of fewer than {@linkcode PHASES} × 2 samples the plain median.
 */
export function phasedMedian(samples: readonly number[]): number {
  if (samples.length < PHASES * LEAST_OF_A_PHASE) {
    return quantile(samples.toSorted((a, b) => a - b), 0.5);
  }
  return mean(mediansOf(samples));
}

function mediansOf(samples: readonly number[]): number[] {
  return Array.from({ length: PHASES }, (_, phase) => {
    const own = samples.filter((_, i) => i % PHASES === phase);
    return quantile(own.sort((a, b) => a - b), 0.5);
  });
}

/**
 * Ordered `samples` with the medians of their phases made equal: what is left is noise
 * around {@linkcode phasedMedian}, from which its error can be told.
 */
export function dephased(samples: readonly number[]): number[] {
  if (samples.length < PHASES * LEAST_OF_A_PHASE) return [...samples];
  const medians = mediansOf(samples);
  const center = mean(medians);
  // Each median was fitted to its few samples, which then lie too near to it.
  const few = samples.length / PHASES;
  const wider = few / (few - 1);
  return samples.map((x, i) => center + wider * (x - medians[i % PHASES]!));
}

/** Median, quartiles, least and mean of ordered `samples`; none is dropped. */
export function summarize(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    median: phasedMedian(samples),
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

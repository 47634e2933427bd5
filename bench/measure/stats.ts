/**
 * Means and order statistics, for the engine and for reports.
 *
 * @module
 */

/** The statistics of a row's samples, in the samples' unit. */
export interface Summary {
  /** See {@linkcode phasedMedian}. */
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
  readonly min: number;
  readonly mean: number;
}

/**
 * Returns the `q`-quantile of ascending `sorted`, linear between neighbours, as in NumPy and
 * Triton: the position is q·(n-1).
 *
 * @example
 * ```ts
 * import { quantile } from "./stats.ts";
 * import { assertStrictEquals } from "@std/assert";
 *
 * assertStrictEquals(quantile([1, 2, 3, 10], 0.5), 2.5);
 * ```
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the median of at least one value, in any order. */
export function median(values: readonly number[]): number {
  return quantile(values.toSorted((a, b) => a - b), 0.5);
}

/** Returns the arithmetic mean of at least one value. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the geometric mean of `values`, each above 0; undefined for none. */
export function geomean(values: readonly number[]): number | undefined {
  return values.length > 0 ? Math.exp(mean(values.map(Math.log))) : undefined;
}

/** Returns the sample variance of at least two values. */
export function variance(values: readonly number[]): number {
  const center = mean(values);
  const squares = values.map((value) => (value - center) ** 2);
  return mean(squares) * values.length / (values.length - 1);
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
    return median(samples);
  }
  return mean(mediansOf(samples));
}

function mediansOf(samples: readonly number[]): number[] {
  return Array.from(
    { length: PHASES },
    (_, phase) => median(samples.filter((_, i) => i % PHASES === phase)),
  );
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

/** Returns the standard deviation of the medians of several runs; undefined for one run. */
export function spread(medians: readonly number[]): number | undefined {
  return medians.length > 1 ? Math.sqrt(variance(medians)) : undefined;
}

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
/** The 99th percentile of χ² with {@linkcode PHASES} - 1 degrees of freedom. */
const EXPLAINED = 30.58;
/** Share of the median by which states of the driver move it: 1.2 µs of a call of 5. */
const MOST_SHIFT = 0.25;

/**
 * The median of ordered `samples`, or, where their residues modulo {@linkcode PHASES} explain
 * their spread, the mean of the medians of each residue.
 *
 * The times of several launches lie in modes, one for each state of the driver, and the
 * median of a mixture of two modes lies in the gap between them, anywhere. Each residue
 * has one state only. On a loaded host the few samples of a residue may all be interrupted,
 * so it counts only where a Kruskal–Wallis test finds that residues differ.
 */
export function phasedMedian(samples: readonly number[]): number {
  const medians = mediansOf(samples);
  return medians ? mean(medians) : median(samples);
}

/** Returns the median of each residue; undefined where they do not explain the spread. */
function mediansOf(samples: readonly number[]): number[] | undefined {
  if (samples.length < PHASES * LEAST_OF_A_PHASE) return undefined;
  const ranks = ranksOf(samples);
  const center = mean(ranks);
  const squares = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + (value - center) ** 2, 0);
  const within = (values: readonly number[]) => {
    const phases = Array.from({ length: PHASES }, (): number[] => []);
    for (let i = 0; i < values.length; i++) {
      phases[i % PHASES]!.push(values[i]!);
    }
    return phases;
  };
  const between = within(ranks)
    .reduce((sum, own) => sum + own.length * (mean(own) - center) ** 2, 0);
  // Not more for equal samples, of which both are 0.
  const explained = between * (samples.length - 1) > EXPLAINED * squares(ranks);
  if (!explained) return undefined;
  const medians = within(samples).map(median);
  const plain = median(samples);
  const shift = Math.abs(mean(medians) - plain);
  return shift > MOST_SHIFT * plain ? undefined : medians;
}

/** Returns the rank of each of `values`, the same for equal ones. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const ranks = new Map<number, number>();
  let first = 0;
  for (const [i, value] of sorted.entries()) {
    if (value !== sorted[first]) first = i;
    ranks.set(value, (first + i) / 2);
  }
  return values.map((value) => ranks.get(value)!);
}

/**
 * Ordered `samples` with the medians of their phases made equal: what is left is noise
 * around {@linkcode phasedMedian}, from which its error can be told.
 */
export function dephased(samples: readonly number[]): number[] {
  const medians = mediansOf(samples);
  if (!medians) return [...samples];
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

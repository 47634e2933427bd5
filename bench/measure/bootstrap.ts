/**
 * Computes the standard error of the median of samples that resemble their neighbours in time.
 *
 * @module
 */

/** Resamplings: the error of the result is then about 4 %. */
const REPLICATES = 300;
const SEED = 0x9e3779b9;
/**
 * Blocks are this many times as long as the rule says. The rule minimizes the mean square error,
 * which underestimates the error by a third where samples are much alike; a false alarm costs
 * more than a wide interval.
 */
const MARGIN = 2;
/** Lags without correlation after which there is none. */
const QUIET = 5;

/** The error of a median. */
export interface MedianError {
  /** The standard error. */
  readonly error: number;
  /** Degrees of freedom that the error is known with: independent stretches, less one. */
  readonly freedom: number;
}

/**
 * Returns the standard error of the median of `samples` in the order they were taken, by a
 * circular block bootstrap: whole stretches are drawn, as long as samples resemble each
 * other, since drawing one by one would take n copies of one disturbance for n proofs.
 * The same samples give the same result.
 *
 * @example
 * ```ts
 * import { medianError } from "./bootstrap.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(medianError([7, 7, 7, 7, 7, 7, 7, 7]).error, 0);
 * ```
 */
export function medianError(samples: readonly number[]): MedianError {
  const n = samples.length;
  const ranks = ranksOf(samples);
  const sorted = Float64Array.from(samples).sort();
  const block = blockLength(ranks);
  const random = generator(SEED);
  const counts = new Uint32Array(n);
  let sum = 0;
  let squares = 0;
  for (let replicate = 0; replicate < REPLICATES; replicate++) {
    counts.fill(0);
    for (let taken = 0; taken < n;) {
      const start = Math.floor(random() * n);
      const length = Math.min(block, n - taken);
      for (let i = 0; i < length; i++) counts[ranks[(start + i) % n]!]!++;
      taken += length;
    }
    // Relative to the sample's own median, so that the squares keep their digits.
    const median = medianOf(counts, sorted) - sorted[n >> 1]!;
    sum += median;
    squares += median * median;
  }
  const mean = sum / REPLICATES;
  const variance = Math.max(0, squares / REPLICATES - mean * mean);
  // Corrects for blocks that are a large share of the series: they overlap each other.
  const error = Math.sqrt(variance * n / (n - Math.min(block, n >> 1)));
  return { error, freedom: Math.max(1, Math.floor(n / block) - 1) };
}

/**
 * Returns the number of samples after which they no longer resemble each other, by the rule of Politis and
 * White (2004, corrected 2009) for circular blocks, with a margin; at least the cube root
 * of their number, at most a third of it.
 *
 * @param ranks Of the samples, so that one outlier does not hide what the others do.
 */
export function blockLength(ranks: ArrayLike<number>): number {
  const n = ranks.length;
  const least = Math.ceil(Math.cbrt(n));
  const most = Math.max(least, Math.floor(n / 3));
  const reach = Math.min(n - 1, most);
  const centered = centeredOf(ranks);
  const variance = autocovariance(centered, 0);
  if (variance === 0) return least;
  const insignificant = 2 * variance * Math.sqrt(Math.log10(n) / n);
  const covariance = [variance];
  let quiet = 0;
  let last = 1;
  for (let lag = 1; lag <= reach && quiet < QUIET; lag++) {
    covariance[lag] = autocovariance(centered, lag);
    if (Math.abs(covariance[lag]!) < insignificant) quiet++;
    else [quiet, last] = [0, lag];
  }
  const window = Math.min(2 * last, reach);
  let density = variance;
  let slope = 0;
  for (let lag = 1; lag <= window; lag++) {
    // A trapezoid: weight 1 for the first half, falling to 0 for the rest.
    const weight = Math.min(1, 2 * (1 - lag / window));
    const own = covariance[lag] ?? autocovariance(centered, lag);
    density += 2 * weight * own;
    slope += 2 * weight * lag * own;
  }
  if (!(density > 0)) return most;
  const best = MARGIN * Math.cbrt(1.5 * n * (slope / density) ** 2);
  return Math.min(most, Math.max(least, Math.ceil(best)));
}

function centeredOf(values: ArrayLike<number>): Float64Array {
  const centered = Float64Array.from(values);
  const mean = centered.reduce((sum, value) => sum + value, 0) / values.length;
  return centered.map((value) => value - mean);
}

function autocovariance(centered: Float64Array, lag: number): number {
  let sum = 0;
  for (let i = lag; i < centered.length; i++) {
    sum += centered[i]! * centered[i - lag]!;
  }
  return sum / centered.length;
}

/** Returns the rank of each sample; equal ones in order of time. */
function ranksOf(samples: readonly number[]): Uint32Array {
  const order = Uint32Array.from(samples, (_, i) => i)
    .sort((a, b) => samples[a]! - samples[b]! || a - b);
  const ranks = new Uint32Array(samples.length);
  order.forEach((at, rank) => ranks[at] = rank);
  return ranks;
}

/** Returns the median of a sample that has the i-th value in order `counts[i]` times. */
function medianOf(counts: Uint32Array, sorted: Float64Array): number {
  const n = sorted.length;
  const [low, high] = [(n - 1) >> 1, n >> 1];
  let rank = 0;
  let passed = counts[0]!;
  while (passed <= low) passed += counts[++rank]!;
  const first = sorted[rank]!;
  while (passed <= high) passed += counts[++rank]!;
  return (first + sorted[rank]!) / 2;
}

/** Returns a generator of numbers in [0, 1): mulberry32, the same for the same seed. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

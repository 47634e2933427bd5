/**
 * Finds in the order of samples what a median hides: drift, and two modes.
 *
 * @module
 */

import { median, quantile } from "../../bench/measure/stats.ts";

/** The behaviour of samples. */
export interface Wander {
  /**
   * The median of the last quarter over that of the first, less 1; nothing of too few
   * samples.
   */
  readonly drift?: number;
  /** The drift is more than the samples' spread gives by chance. */
  readonly drifts: boolean;
  /** Both modes and the share of samples in the lower; nothing where there is one mode. */
  readonly modes?: {
    readonly low: number;
    readonly high: number;
    readonly share: number;
  };
}

/** Fewer samples have no quarters and no modes to speak of. */
const LEAST = 20;
/** Samples are not independent: three errors are common. */
const LEAST_ERRORS = 5;
/** A mode with less is a few stragglers. */
const LEAST_SHARE = 0.08;
/**
 * Distance of two halves over their spread. Halves of one normal distribution have 2.6,
 * those of a uniform one 3.5; two normal ones that just show two humps have about 4.
 */
const LEAST_DISTANCE = 4.5;

/**
 * Returns the behaviour of `samples`, in the order they were taken.
 *
 * @example
 * ```ts
 * import { wanderOf } from "./drift.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const rising = Array.from({ length: 100 }, (_, i) => 100 + i / 10);
 * strictEqual(wanderOf(rising).drift?.toFixed(2), "0.07");
 * const coin = rising.map((_, i) => (i % 3 ? 100 : 120) + i % 5);
 * strictEqual(wanderOf(coin).modes?.high, 122);
 * ```
 */
export function wanderOf(samples: readonly number[]): Wander {
  if (samples.length < LEAST) return { drifts: false };
  const quarter = Math.floor(samples.length / 4);
  const first = median(samples.slice(0, quarter));
  const last = median(samples.slice(-quarter));
  const modes = modesOf(samples);
  return {
    drift: last / first - 1,
    drifts: Math.abs(last - first) > LEAST_ERRORS * errorOf(samples),
    ...(modes && { modes }),
  };
}

/** Returns the standard error of the difference of the medians of two quarters of `samples`. */
function errorOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  // Of a normal distribution: its quartiles are 1.349 deviations apart, and its median
  // varies by 1.2533 times as much as its mean.
  const deviation = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) /
    1.349;
  return 1.2533 * deviation * Math.sqrt(2 / Math.floor(samples.length / 4));
}

/** Returns the two parts whose spreads are least (Otsu's threshold), if they are far apart. */
function modesOf(samples: readonly number[]): Wander["modes"] {
  const values = samples.toSorted((a, b) => a - b);
  const { length } = values;
  const sums = [0];
  const squares = [0];
  // Relative to the middle, so that squares do not eat the digits that count.
  const middle = values[length >> 1]!;
  for (const value of values) {
    const from = value - middle;
    sums.push(sums.at(-1)! + from);
    squares.push(squares.at(-1)! + from * from);
  }
  const part = (from: number, to: number) => {
    const count = to - from;
    const mean = (sums[to]! - sums[from]!) / count;
    const square = (squares[to]! - squares[from]!) / count;
    return { count, mean, variance: Math.max(0, square - mean * mean) };
  };
  const least = Math.max(2, Math.ceil(length * LEAST_SHARE));
  let best: { at: number; within: number } | undefined;
  for (let at = least; at <= length - least; at++) {
    if (values[at] === values[at - 1]) continue;
    const [low, high] = [part(0, at), part(at, length)];
    const within = low.count * low.variance + high.count * high.variance;
    if (best === undefined || within < best.within) best = { at, within };
  }
  if (best === undefined) return undefined;
  const [low, high] = [part(0, best.at), part(best.at, length)];
  // The clock's step keeps two exact values from being infinitely far apart.
  const spread = Math.max(
    Math.sqrt((low.variance + high.variance) / 2),
    middle * 1e-3,
  );
  if ((high.mean - low.mean) / spread < LEAST_DISTANCE) return undefined;
  return {
    low: median(values.slice(0, best.at)),
    high: median(values.slice(best.at)),
    share: best.at / length,
  };
}

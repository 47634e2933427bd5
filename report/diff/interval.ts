/**
 * Computes the confidence interval of the difference of two durations.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import {
  dephased,
  mean,
  phasedMedian,
  variance,
} from "../../bench/measure/stats.ts";
import {
  type MedianError,
  medianError,
} from "../../bench/measure/bootstrap.ts";

/** From and to, microseconds. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** Set where the runs are apart by their ranks, whatever the interval is. */
  readonly apart?: true;
  /** The probability that the same code is not beyond it on the slow side. @default {0.99} */
  readonly level?: number;
}

/** A row and its samples. */
export interface Evidence {
  readonly row: CsvRow;
  /** Nanoseconds in the order they were taken, for each repeat; none where not kept. */
  readonly repeats?: readonly (readonly number[])[];
}

/** The share of orders by chance at which ranks alone decide. */
const RARE = 0.02;

/** With fewer samples, quartiles are used instead. */
const FEW_SAMPLES = 8;

/**
 * Returns the 98 % interval of `next` minus `base`, in microseconds: the same code is beyond it on
 * the slow side in one of a hundred comparisons, or with another `level` in 1 - `level` of them.
 *
 * The variance of a run's median is that between the runs, pooled over both sides, but at
 * least the estimate from the samples of one run: by block bootstrap, or by their quartiles
 * where samples were not kept. Where one side has several runs and the other has one, the same
 * variance holds for both. The width is Student's t with Welch's and Satterthwaite's degrees of
 * freedom.
 *
 * Repeats minutes apart agree with each other but not with those of another day. The speed of
 * light measures how far the machine itself changed, as no build can change it: the interval is
 * wider by that share of the base on either side.
 *
 * A run with a disturbance makes the interval of a few runs very wide. They are apart all the same
 * where all of one side are beyond all of the other, by more than the runs of the faster side are
 * among themselves, and at most one in {@linkcode RARE} of all orders of the runs has a side first:
 * four runs on each side. Runs of a busy machine are not normal, so that the gap alone proves
 * little.
 */
export function intervalOf(
  base: Evidence,
  next: Evidence,
  level?: number,
): Interval {
  const sides = [sideOf(base), sideOf(next)] as const;
  const freedom = sides.reduce((sum, { runs }) => sum + runs - 1, 0);
  const between = freedom === 0 ? 0 : sides.reduce(
    (sum, side) => sum + (side.runs - 1) * side.between,
    0,
  ) / freedom;
  const pooled = { variance: 0, freedom };
  const terms = [pooled];
  for (const { share, within } of sides) {
    if (between >= within.variance) pooled.variance += share * between;
    else terms.push({ ...within, variance: share * within.variance });
  }
  const variance = terms.reduce((sum, term) => sum + term.variance, 0);
  const doubt = terms.reduce(
    (sum, term) => sum + (term.variance && term.variance ** 2 / term.freedom),
    0,
  );
  const reach = variance === 0
    ? 0
    : studentQuantile(variance ** 2 / doubt, level) * Math.sqrt(variance);
  const wide = reach + sides[0].center * lightChange(base.row, next.row);
  const difference = sides[1].center - sides[0].center;
  return {
    low: difference - wide,
    high: difference + wide,
    ...(areApart(sides, wide - reach) ? { apart: true } : {}),
    ...(level === undefined ? {} : { level }),
  };
}

/** @param more Microseconds that the gap must be wider. */
function areApart(sides: readonly Side[], more: number): boolean {
  const [faster, slower] = sides.map(({ medians }) => medians)
    .toSorted((a, b) => Math.min(...a) - Math.min(...b));
  if (faster!.length === 0 || slower!.length === 0) return false;
  if (1 / orders(faster!.length, slower!.length) > RARE) return false;
  const top = Math.max(...faster!);
  const range = top - Math.min(...faster!);
  return Math.min(...slower!) - top > range + more;
}

/** Returns the number of orders of the runs of two sides, `a` and `b` of them. */
export function orders(a: number, b: number): number {
  let ways = 1;
  for (let i = 1; i <= a; i++) ways *= (b + i) / i;
  return ways;
}

/** Returns the relative difference of the speed of light; 0 where it was not measured. */
function lightChange(
  { sol_us: base }: CsvRow,
  { sol_us: next }: CsvRow,
): number {
  if (Number(base) === 0 || next === "") return 0;
  return Math.abs(Number(next) / Number(base) - 1);
}

/** A variance, and the degrees of freedom that it is known with. */
interface Estimate {
  readonly variance: number;
  readonly freedom: number;
}

interface Side {
  readonly center: number;
  readonly runs: number;
  /** Of each of three runs or more, where the samples of all were kept. */
  readonly medians: readonly number[];
  /** Variance of the center, as a share of that of one run's median. */
  readonly share: number;
  /** Variance of the medians of runs; 0 for one. */
  readonly between: number;
  /** The variance of one run's median, estimated from its samples. */
  readonly within: Estimate;
}

function sideOf({ row, repeats = [] }: Evidence): Side {
  const kept = repeats.filter(({ length }) => length >= FEW_SAMPLES);
  const runs = Math.max(1, Number(row.runs));
  const within = kept.length > 0 ? bootstrapped(kept) : ofQuartiles(row);
  // The mean of the runs' medians has a smaller variance than their median.
  if (runs > 2 && kept.length === runs) {
    const medians = kept.map((ns) =>
      phasedMedian(ns.map((sample) => sample / 1e3))
    );
    return {
      center: mean(medians),
      runs,
      medians,
      share: 1 / runs,
      between: variance(medians),
      within,
    };
  }
  return {
    center: Number(row.median_us),
    medians: [],
    // Several runs without a recorded spread count as one.
    runs: row.between_run_us === "" ? 1 : runs,
    // The variance of the median of normal values: 1 % off for odd counts, 20 % high for even.
    share: runs > 2 ? Math.PI / (2 * runs + 1) : 1 / runs,
    between: Number(row.between_run_us) ** 2,
    within,
  };
}

/** A sequential test asks for the same samples after each round. */
const errorsOf = new WeakMap<readonly number[], MedianError>();

/** @param repeats Nanoseconds. @returns Square microseconds. */
function bootstrapped(repeats: readonly (readonly number[])[]): Estimate {
  const errors = repeats.map((ns) => {
    const known = errorsOf.get(ns);
    if (known) return known;
    const { error, freedom } = medianError(
      dephased(ns.map((sample) => sample / 1e3)),
    );
    errorsOf.set(ns, { error, freedom });
    return { error, freedom };
  });
  return {
    variance: mean(errors.map(({ error }) => error ** 2)),
    freedom: errors.reduce((sum, one) => sum + one.freedom, 0),
  };
}

/**
 * Returns the variance of the median of normal samples with these quartiles. How much neighbours
 * resemble each other is not known: they count as independent only at a distance of the
 * cube root of their number, the least block of the bootstrap.
 */
function ofQuartiles({ q1_us, q3_us, samples }: CsvRow): Estimate {
  const deviation = (Number(q3_us) - Number(q1_us)) / 1.349;
  const independent = Math.max(1, Number(samples)) ** (2 / 3);
  return {
    variance: Math.PI / 2 * deviation ** 2 / independent,
    freedom: Math.max(1, independent - 1),
  };
}

/** With more degrees of freedom the quantiles are those of this many, 0.1 % higher. */
const MOST_FREEDOM = 2000;
const quantiles = new Map<string, number>();

/**
 * Returns the quantile of Student's t at `level` (above 0.5) for `freedom` degrees, rounded down.
 *
 * @example
 * ```ts
 * import { studentQuantile } from "./interval.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(studentQuantile(4).toFixed(3), "3.747");
 * strictEqual(studentQuantile(10, 0.9995).toFixed(3), "4.587");
 * ```
 */
export function studentQuantile(freedom: number, level = 0.99): number {
  // The tolerance keeps rounding errors from removing a degree.
  const whole = Math.min(
    Math.max(1, Math.floor(freedom + 1e-9)),
    MOST_FREEDOM,
  );
  const key = `${whole} ${level}`;
  const known = quantiles.get(key);
  if (known !== undefined) return known;
  let [low, high] = [0, 1];
  while (withinT(high, whole) < 2 * level - 1) high *= 2;
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (withinT(middle, whole) < 2 * level - 1) low = middle;
    else high = middle;
  }
  quantiles.set(key, high);
  return high;
}

/**
 * Returns the probability that Student's t is between -`t` and `t`. Source: Abramowitz and Stegun,
 * Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
 */
function withinT(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const square = Math.cos(angle) ** 2;
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let i = isOdd ? 3 : 2; i < freedom; i += 2) {
    term *= square * (i - 1) / i;
    sum += term;
  }
  return isOdd
    ? 2 / Math.PI * (angle + Math.sin(angle) * sum)
    : Math.sin(angle) * sum;
}

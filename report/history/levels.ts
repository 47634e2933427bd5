/**
 * Finds where the level of a series of times changed, and makes one row of the runs of the last.
 *
 * @module
 */

import { median, spread } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";

/** Values of one level that follow one another. */
export interface Level {
  /** The first of its values, and the one behind its last. */
  readonly from: number;
  readonly to: number;
  /** The median of its values, in their unit. */
  readonly center: number;
}

/** Values of a level at least: fewer are a disturbance. */
const LEAST = 3;
/** Values at least of a series in which a change can be found: a level before it and one after. */
export const LEAST_TO_CHANGE = 2 * LEAST;
/** Relative changes that are no other level, however well they are known. */
const TINY = 0.01;
/** The least noise of a series, as a share: runs of which all are equal still differ somewhere. */
const LEAST_NOISE = 0.002;
/** Standard deviations of noise beyond which a value is an outlier among its neighbours. */
const CLIP = 3;
/** Neighbours on either side of a value, one less than make a level. */
const REACH = LEAST - 1;
/**
 * Standard deviations by which the means on both sides of the best place must differ. Of series of 100
 * values without a change 1 in 20 has one at 3.3, and 1 in 100 at this (by simulation: see the test).
 */
const APART = 4;
/** A normal distribution's standard deviation over its median absolute deviation. */
const NORMAL = 1.4826;

/**
 * Returns the levels of `values`, each above 0, in their order: at least one for any value.
 *
 * Binary segmentation (Scott and Knott, 1974) of the logarithms, with the noise from the median of
 * the differences of neighbours, in which a change of level is one of many.
 */
export function levelsOf(values: readonly number[]): readonly Level[] {
  if (values.length === 0) return [];
  const raw = values.map(Math.log);
  const noise = noiseOf(raw);
  const logs = withoutOutliers(raw, noise);
  const ends = [0, ...changesIn(logs, noise, 0), logs.length];
  const edges = ends.map((at, i) =>
    i === 0 || i === ends.length - 1
      ? at
      : ends[i - 1]! + bestIn(logs.slice(ends[i - 1], ends[i + 1]), noise).at
  );
  return edges.slice(1).map((to, i) => {
    const from = edges[i]!;
    return { from, to, center: median(values.slice(from, to)) };
  });
}

/** The standard deviation of the values around their level. */
function noiseOf(logs: readonly number[]): number {
  if (logs.length < 2) return LEAST_NOISE;
  const steps = logs.slice(1).map((x, i) => Math.abs(x - logs[i]!));
  return Math.max(LEAST_NOISE, NORMAL * median(steps) / Math.SQRT2);
}

/** The places of changes in `logs`, whose first value is number `offset`. */
function changesIn(
  logs: readonly number[],
  noise: number,
  offset: number,
): readonly number[] {
  const { at, score, change } = bestIn(logs, noise);
  if (score < APART || change < TINY) return [];
  return [
    ...changesIn(logs.slice(0, at), noise, offset),
    offset + at,
    ...changesIn(logs.slice(at), noise, offset + at),
  ];
}

/** Replaces each value that is far from its neighbours by their median (Hampel's filter). */
function withoutOutliers(
  logs: readonly number[],
  noise: number,
): readonly number[] {
  return logs.map((x, i) => {
    const near = logs.slice(Math.max(0, i - REACH), i + REACH + 1);
    const center = median(near);
    return Math.abs(x - center) > CLIP * noise ? center : x;
  });
}

/** The place between two values where the means on both sides are furthest apart for their noise. */
function bestIn(logs: readonly number[], noise: number) {
  let best = { at: 0, score: 0, change: 0 };
  const total = logs.reduce((sum, x) => sum + x, 0);
  let left = 0;
  for (let at = 1; at <= logs.length - LEAST; at++) {
    left += logs[at - 1]!;
    if (at < LEAST) continue;
    const rest = logs.length - at;
    const change = Math.abs(left / at - (total - left) / rest);
    const score = change * Math.sqrt(at * rest / logs.length) / noise;
    if (score > best.score) best = { at, score, change };
  }
  return best;
}

/** Runs that count at most: a history of years says little of today's machine. */
const MOST = 10;
/** Runs that are looked at, to find where the last level begins. */
export const MOST_SEARCHED = 30;

/**
 * The newest of `rows` with a time, with the median of those of the last level as its time, and their
 * spread as that between runs; nothing of no row. Where none has a time, it is the newest: one run
 * that failed must not hide what the others took.
 *
 * @param rows Of one case, the newest first.
 */
export function centerOf(rows: readonly CsvRow[]): CsvRow | undefined {
  const timed = rows.filter(({ status }) => status === "ok");
  const [newest] = timed;
  if (newest === undefined) return rows[0];
  const times = timed.map((row) => Number(row.median_us)).toReversed();
  const { from } = levelsOf(times).at(-1)!;
  const own = times.slice(Math.max(from, times.length - MOST));
  const between = spread(own);
  return {
    ...newest,
    median_us: `${median(own)}`,
    runs: `${own.length}`,
    between_run_us: between === undefined ? "" : `${between}`,
  };
}

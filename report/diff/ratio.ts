/**
 * Says how many times as fast one kernel is as another, and how well that is known.
 *
 * @module
 */

import {
  geomean,
  mean,
  phasedMedian,
  variance,
} from "../../bench/measure/stats.ts";
import {
  type Evidence,
  type Interval,
  intervalOf,
  studentQuantile,
} from "./interval.ts";
import type { Threshold } from "./thresholds.ts";

/** A speed-up. */
export interface Ratio {
  /** Time of the base over time of the new one: above 1 the new one is faster. */
  readonly ratio: number;
  /** Half of its 98 % interval. */
  readonly reach: number;
}

/** Two measurements of a point, each with a time. */
export interface TimedPair {
  readonly base: Evidence;
  readonly next: Evidence;
}

/**
 * Returns the speed-up of a pair, with the interval of {@linkcode intervalInTurns}: that between the
 * base and the new one's times made as long, as noise is a share of what is measured.
 */
export function ratioOf({ base, next }: TimedPair): Ratio {
  const [from, to] = [base, next].map(({ row }) => Number(row.median_us));
  const ratio = from! / to!;
  const { low, high } = intervalInTurns(base, scaled(next, ratio));
  return { ratio, reach: ratio * (high - low) / 2 / from! };
}

/**
 * Returns the interval of two sides that were measured in turns: what the machine did is shared, and
 * their speeds of light differ by the noise of two calibrations.
 */
export function intervalInTurns(
  base: Evidence,
  next: Evidence,
  level?: number,
): Interval {
  const unlit = { ...next, row: { ...next.row, sol_us: "" } };
  return intervalOf(base, unlit, level);
}

/** Columns of a row that are times. */
const TIMES = ["median_us", "q1_us", "q3_us", "between_run_us"] as const;

function scaled({ row, repeats }: Evidence, by: number): Evidence {
  const times = TIMES.filter((column) => row[column] !== "")
    .map((column) => [column, `${by * Number(row[column])}`]);
  return {
    row: { ...row, ...Object.fromEntries(times) },
    ...(repeats && { repeats: repeats.map((ns) => ns.map((x) => by * x)) }),
  };
}

/**
 * Returns the geometric mean of the speed-ups of `pairs`; undefined for none.
 *
 * Each round of runs, one of each side, gives a mean over all points. Its logarithms differ
 * between rounds by what the machine did to many points at once, so their spread tells more than
 * the spreads of single points do. With one round the latter are all there is.
 */
export function geomeanRatio(pairs: readonly TimedPair[]): Ratio | undefined {
  const ratios = pairs.map(ratioOf);
  if (ratios.length === 1) return ratios[0];
  const ratio = geomean(ratios.map((one) => one.ratio));
  if (ratio === undefined) return undefined;
  const rounds = Math.min(
    ...pairs.flatMap(({ base, next }) =>
      [base, next].map(({ repeats = [] }) => repeats.length)
    ),
  );
  if (rounds < 2) {
    const squares = ratios.map((one) => (one.reach / one.ratio) ** 2);
    return { ratio, reach: ratio * Math.sqrt(mean(squares) / pairs.length) };
  }
  const logs = Array.from(
    { length: rounds },
    (_, round) =>
      mean(
        pairs.map(({ base, next }) =>
          Math.log(medianOf(base, round) / medianOf(next, round))
        ),
      ),
  );
  const reach = studentQuantile(rounds - 1) *
    Math.sqrt(variance(logs) / rounds);
  return { ratio, reach: ratio * reach };
}

function medianOf({ repeats }: Evidence, round: number): number {
  return phasedMedian(repeats![round]!);
}

/** Returns the verdict on a geometric mean: of `diff`'s words those that are about time. */
export function verdictOfRatio(
  { ratio, reach }: Ratio,
  { relative }: Pick<Threshold, "relative">,
): "faster" | "slower" | "same" | "unclear" {
  if (Math.abs(1 / ratio - 1) <= relative) return "same";
  if (Math.abs(ratio - 1) <= reach) return "unclear";
  return ratio > 1 ? "faster" : "slower";
}

/**
 * Formats a speed-up with its interval; with `?` where that is wider than the speed-up.
 *
 * @example
 * ```ts
 * import { formatRatio } from "./ratio.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatRatio({ ratio: 1.2345, reach: 0.021 }), "1.23x ± 0.02");
 * strictEqual(formatRatio({ ratio: 1.0345, reach: 0.0021 }), "1.034x ± 0.002");
 * strictEqual(formatRatio({ ratio: 0.5, reach: 3 }), "0.50x ± ?");
 * ```
 */
export function formatRatio({ ratio, reach }: Ratio): string {
  if (!(reach < ratio)) return `${ratio.toFixed(2)}x ± ?`;
  const digits = digitsOf({ ratio, reach });
  return `${ratio.toFixed(digits)}x ± ${reach.toFixed(digits)}`;
}

function digitsOf({ ratio, reach }: Ratio): number {
  return reach < 0.01 && ratio < 10 ? 3 : 2;
}

/** Returns whether the interval has 1, as {@linkcode formatRatio} shows it. */
export function showsOne({ ratio, reach }: Ratio): boolean {
  if (!(reach < ratio)) return true;
  const unit = 10 ** digitsOf({ ratio, reach });
  return Math.abs(Math.round(ratio * unit) - unit) <= Math.round(reach * unit);
}

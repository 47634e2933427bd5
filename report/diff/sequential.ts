/**
 * Judges two builds that are measured in turns, by a group-sequential test: after some planned numbers
 * of rounds (the looks), until each case is settled.
 *
 * @module
 */

import { mean, median, spread } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import { type Evidence, type Interval, orders } from "./interval.ts";
import type { Pair } from "./join.ts";
import { intervalInTurns } from "./ratio.ts";
import type { Threshold } from "./thresholds.ts";
import { judge, type Judged } from "./verdict.ts";

/** The looks: numbers of rounds after which the rows are judged. */
export const LOOKS: readonly number[] = [3, 5, 8, 12];

/** The probability that any case of the same code is called slower, over all looks. */
const FALSE_ALARMS = 0.01;

/** The number of judgements among which {@linkcode FALSE_ALARMS} is divided. */
export interface Plan {
  /** Planned looks, also those that do not take place. */
  readonly looks: number;
  readonly cases: number;
}

/** The verdict on a case at one look. */
export interface Look {
  readonly judged: Judged;
  /** Whether the case needs no more rounds. */
  readonly settled: boolean;
}

/**
 * Returns one measurement of the rounds of a case, at least one: the row of the round in the
 * middle with the median of all, and the samples of each. A round that failed stands for all.
 */
export function joined(rounds: readonly Evidence[]): Evidence {
  const failed = rounds.find(({ row }) => row.status !== "ok");
  if (failed !== undefined) return failed;
  const timeOf = ({ row }: Evidence) => Number(row.median_us);
  const sorted = rounds.toSorted((a, b) => timeOf(a) - timeOf(b));
  const medians = sorted.map(timeOf);
  const middle = sorted[Math.ceil(rounds.length / 2) - 1]!.row;
  const row: CsvRow = {
    ...middle,
    median_us: `${median(medians)}`,
    runs: `${rounds.length}`,
    between_run_us: `${spread(medians) ?? ""}`,
  };
  return { row, repeats: rounds.flatMap(({ repeats = [] }) => repeats) };
}

/**
 * Judges a case of which each side was measured in some rounds.
 *
 * A case is slower or faster where {@linkcode intervalInTurns} says so at a level that leaves each
 * look at each case its equal part of 1 % (Bonferroni's inequality: it holds for looks that
 * are far apart or few and for cases that depend on each other, where the constants of Pocock and of
 * O'Brien and Fleming are for equal steps of normal values). The interval must begin beyond half the
 * threshold: processes of the same code differ by more than chance, as each has its memory elsewhere.
 * A case is settled as the same where the plain 98 % interval ends below twice the threshold on
 * either side.
 */
export function lookAt(
  pair: Pair,
  { rounds, plan, threshold }: {
    /** Those of `base` and `next`; none where the side has no such case. */
    readonly rounds: readonly [Evidence, Evidence] | undefined;
    readonly plan: Plan;
    readonly threshold: Threshold;
  },
): Look {
  const level = 1 - FALSE_ALARMS / (plan.looks * plan.cases);
  const between = () => withRanks(intervalInTurns(...rounds!, level), rounds!);
  const limitUs = ({ row }: Evidence) =>
    Math.max(threshold.relative * Number(row.median_us), threshold.minUs);
  const judged = judge(pair, {
    threshold,
    marginUs: rounds ? limitUs(rounds[0]) / 2 : 0,
    interval: between,
  });
  const { verdict, also, speed } = judged;
  const timed = also ?? verdict;
  if (rounds === undefined || speed === undefined) {
    return { judged, settled: true };
  }
  if (timed !== "same") return { judged, settled: timed !== "unclear" };
  const { low, high } = intervalInTurns(...rounds);
  const most = 2 * limitUs(rounds[0]);
  return { judged, settled: -most < low && high < most };

  /** Ranks count where they alone are as rare as the level says: one of all orders of the rounds. */
  function withRanks(interval: Interval, sides: readonly Evidence[]): Interval {
    const { apart, ...rest } = interval;
    const runs = Math.min(...sides.map(({ repeats = [] }) => repeats.length));
    return apart && 1 / orders(runs, runs) <= 1 - level
      ? { ...rest, apart }
      : rest;
  }
}

/** Returns what rounds of one side differ by: the standard deviation as a share of the time. */
function spreadOf(
  { row: { between_run_us, median_us } }: Pick<SourcedRow, "row">,
): number | undefined {
  return between_run_us === "" || median_us === ""
    ? undefined
    : Number(between_run_us) / Number(median_us);
}

/** Returns the mean over cases of {@linkcode spreadOf}; undefined where no case has one. */
export function meanSpread(
  rows: readonly Pick<SourcedRow, "row">[],
): number | undefined {
  const all = rows.flatMap((one) => spreadOf(one) ?? []);
  return all.length === 0 ? undefined : mean(all);
}

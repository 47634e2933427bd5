/**
 * Tells of each case of a history how its time changed, and of each point which kernel is fastest
 * since when.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { axesOf } from "../../bench/row/row.ts";
import { labelOf, pointOf, varyingAxes } from "../model/axes.ts";
import { type Level, levelsOf } from "./levels.ts";

/** A run of a history. */
export interface HistoryRun {
  readonly id: number;
  /** ISO 8601 in UTC, of its first row. */
  readonly time: string;
  /** Of mnkbench; its version where it is no checkout. */
  readonly commit: string;
  readonly dirty: string;
}

/**
 * Names a run for people, to the minute: a CI may have many on a day.
 *
 * @param source Of a row of the run: {@linkcode HistorySeries.points}.
 */
export function nameOf(
  { commit, dirty, time }: HistoryRun,
  source: string,
): string {
  const build = commit === "" ? "" : ` by mnkbench ${commit.slice(0, 12)}`;
  const changed = dirty === "true" ? " with changes" : "";
  const minute = time.slice(0, 16).replace("T", " ");
  const own = source === ""
    ? ""
    : ` at ${source.replace("+", " with changes")},`;
  return `the run of ${minute} UTC${own}${build}${changed}`;
}

/** A case and its times, in the order of the runs. */
export interface HistorySeries {
  /** Its key and device. */
  readonly row: CsvRow;
  readonly points: readonly {
    readonly run: number;
    readonly status: string;
    /** The commit of the user's repository, with a `+` where it had changes; else empty. */
    readonly source: string;
    /** Missing where there is no time. */
    readonly median_us?: number;
  }[];
}

/** The times of a case. */
export interface CaseHistory {
  readonly row: CsvRow;
  /** The point: `16×16×8192`. */
  readonly label: string;
  /** Runs with a time, in order. */
  readonly timed: readonly {
    readonly run: number;
    readonly source: string;
    readonly median_us: number;
  }[];
  /** The levels of the times, by indices of `timed`. */
  readonly levels: readonly Level[];
  /** The status in its last run, such as `ok`. */
  readonly last: string;
}

/** Returns the relative change of the time at its last change; undefined where it did not change. */
export function changeOf({ levels }: CaseHistory): number | undefined {
  const [before, now] = levels.slice(-2);
  return now === undefined ? undefined : now.center / before!.center - 1;
}

/**
 * Returns the relative change of the time since its first level, where more than one change lies
 * between: each step of a slow drift is small. Undefined elsewhere.
 */
export function driftOf({ levels }: CaseHistory): number | undefined {
  return levels.length > 2
    ? levels.at(-1)!.center / levels[0]!.center - 1
    : undefined;
}

/** Returns the history of each case of a suite. Cases that were unsupported in all runs are left out. */
export function caseHistories(
  series: readonly HistorySeries[],
): readonly CaseHistory[] {
  const names = varyingAxes(series.map(({ row }) => pointOf(row)));
  const ran = series.filter(({ points }) =>
    points.some(({ status }) => status !== "unsupported")
  );
  return ran.map(({ row, points }) => {
    const timed = points.flatMap(({ run, source, median_us }) =>
      median_us === undefined ? [] : [{ run, source, median_us }]
    );
    return {
      row,
      timed,
      label: labelOf(row, names),
      levels: levelsOf(timed.map(({ median_us }) => median_us)),
      last: points.at(-1)?.status ?? "",
    };
  });
}

/** A kernel that is the fastest at a point from one run on. */
export interface Leader {
  readonly kernel: string;
  readonly run: number;
  /** The commit of the user's repository in that run. */
  readonly source: string;
}

/** The kernels at one point of a suite on one device, and which was the fastest since when. */
export interface PointHistory {
  readonly label: string;
  readonly device: string;
  readonly cases: readonly CaseHistory[];
  readonly leaders: readonly Leader[];
}

/**
 * Returns the points of `cases`, in their order. The fastest kernel at a run is the one of the least
 * level, not of the least time in that run, which noise may decide.
 *
 * @param runs In the order of time.
 */
export function pointHistories(
  cases: readonly CaseHistory[],
  runs: readonly HistoryRun[],
): readonly PointHistory[] {
  const order = new Map(runs.map(({ id }, i) => [id, i]));
  const points = Map.groupBy(
    cases,
    ({ row }) =>
      JSON.stringify([row.device, row.op, row.timer, row.cache, axesOf(row)]),
  );
  return [...points.values()].map((own): PointHistory => ({
    label: own[0]!.label,
    device: own[0]!.row.device,
    cases: own,
    leaders: leadersOf(own, order),
  }));
}

function leadersOf(
  cases: readonly CaseHistory[],
  order: ReadonlyMap<number, number>,
): readonly Leader[] {
  const events = cases.flatMap((one) =>
    one.levels.map(({ from, center }) => {
      const { run, source } = one.timed[from]!;
      return { run, source, center, kernel: one.row.kernel };
    })
  ).toSorted((a, b) => order.get(a.run)! - order.get(b.run)!);
  const now = new Map<string, number>();
  const leaders: Leader[] = [];
  for (const [run, own] of Map.groupBy(events, (one) => one.run)) {
    for (const { kernel, center } of own) now.set(kernel, center);
    const [[kernel]] = [...now].toSorted((a, b) => a[1] - b[1]) as [
      [string, number],
    ];
    if (leaders.at(-1)?.kernel === kernel) continue;
    // Another kernel that became slower may be what makes this one the fastest.
    const { source } = own.find((one) => one.kernel === kernel) ?? own[0]!;
    leaders.push({ kernel, run, source });
  }
  return leaders;
}

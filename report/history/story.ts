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
export interface StoryRun {
  readonly id: number;
  /** ISO 8601 in UTC, of its first row. */
  readonly time: string;
  /** Of mnkbench; its version where it is no checkout. */
  readonly commit: string;
  readonly dirty: string;
}

/** Names a run for people. */
export function nameOf({ commit, dirty, time }: StoryRun): string {
  const build = commit === "" ? "" : ` by mnkbench ${commit.slice(0, 12)}`;
  const changed = dirty === "true" ? " with changes" : "";
  return `the run of ${time.slice(0, 10)}${build}${changed}`;
}

/** A case and its times, in the order of the runs. */
export interface StorySeries {
  /** Its key and device. */
  readonly row: CsvRow;
  readonly points: readonly {
    readonly run: number;
    readonly status: string;
    /** Missing where there is no time. */
    readonly median_us?: number;
  }[];
}

/** The times of a case. */
export interface Story {
  readonly row: CsvRow;
  /** The point: `16×16×8192`. */
  readonly label: string;
  /** Runs with a time, in order. */
  readonly timed: readonly {
    readonly run: number;
    readonly median_us: number;
  }[];
  /** Of the times; places are those of `timed`. */
  readonly levels: readonly Level[];
  /** The status of the last run, such as `ok`. */
  readonly last: string;
}

/** The time of the level of `story` at the end, over that of the one before; undefined for one level. */
export function changeOf({ levels }: Story): number | undefined {
  const [before, now] = levels.slice(-2);
  return now === undefined ? undefined : now.center / before!.center - 1;
}

/** Returns the story of each of `series`, of one suite, but of those that could run in no run. */
export function storiesOf(series: readonly StorySeries[]): readonly Story[] {
  const names = varyingAxes(series.map(({ row }) => pointOf(row)));
  const ran = series.filter(({ points }) =>
    points.some(({ status }) => status !== "unsupported")
  );
  return ran.map(({ row, points }) => {
    const timed = points.flatMap(({ run, median_us }) =>
      median_us === undefined ? [] : [{ run, median_us }]
    );
    return {
      ...{ row, timed, label: labelOf(row, names) },
      levels: levelsOf(timed.map(({ median_us }) => median_us)),
      last: points.at(-1)?.status ?? "",
    };
  });
}

/** A kernel that is the fastest at a point from one run on. */
export interface Reign {
  readonly kernel: string;
  readonly run: number;
}

/** The stories of one point of a suite on one device, and who was fastest there. */
export interface Contest {
  readonly label: string;
  readonly device: string;
  readonly stories: readonly Story[];
  readonly reigns: readonly Reign[];
}

/**
 * Returns the contests of `stories`, in their order. The fastest kernel at a run is that of the least
 * level, of those with a time until then: noise makes no other the fastest.
 *
 * @param runs In the order of time.
 */
export function contestsOf(
  stories: readonly Story[],
  runs: readonly StoryRun[],
): readonly Contest[] {
  const order = new Map(runs.map(({ id }, i) => [id, i]));
  const points = Map.groupBy(
    stories,
    ({ row }) =>
      JSON.stringify([row.device, row.op, row.timer, row.cache, axesOf(row)]),
  );
  return [...points.values()].map((own): Contest => ({
    label: own[0]!.label,
    device: own[0]!.row.device,
    stories: own,
    reigns: reignsOf(own, order),
  }));
}

function reignsOf(
  stories: readonly Story[],
  order: ReadonlyMap<number, number>,
): readonly Reign[] {
  const events = stories.flatMap((story) =>
    story.levels.map(({ from, center }) => {
      const { run } = story.timed[from]!;
      return { run, center, kernel: story.row.kernel };
    })
  ).toSorted((a, b) => order.get(a.run)! - order.get(b.run)!);
  const now = new Map<string, number>();
  const reigns: Reign[] = [];
  for (const [run, own] of Map.groupBy(events, (one) => one.run)) {
    for (const { kernel, center } of own) now.set(kernel, center);
    const [[kernel]] = [...now].toSorted((a, b) => a[1] - b[1]) as [
      [string, number],
    ];
    if (reigns.at(-1)?.kernel !== kernel) reigns.push({ kernel, run });
  }
  return reigns;
}

/**
 * Makes of the last runs of a case one row, to compare another run with.
 *
 * @module
 */

import { median, spread } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { levelsOf } from "./levels.ts";

/** Runs that count at most: a history of years says little of today's machine. */
const MOST = 10;
/** Runs that are looked at, to find where the last level begins. */
export const LOOKED_AT = 30;

/**
 * The newest of `rows`, with the median of those of the last level as its time, and their spread as
 * that between runs; nothing of no row. Where the newest has no time, it is returned as it is.
 *
 * @param rows Of one case, the newest first.
 */
export function centerOf(rows: readonly CsvRow[]): CsvRow | undefined {
  const [newest] = rows;
  if (newest === undefined || newest.status !== "ok") return newest;
  const times = rows.filter(({ status }) => status === "ok")
    .map((row) => Number(row.median_us)).toReversed();
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

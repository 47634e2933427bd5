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

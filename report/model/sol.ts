/**
 * The one rule for times that cannot be: `diff`, tables, pictures and the page leave such
 * rows out of means, wins and bests alike.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { TimedRow } from "../../bench/row/row.ts";
// It stands with the page's scripts, which are sent to a browser and import no other.
import { isSuspect } from "../page/browser/sol.ts";

/** What stands behind a time that is above SOL. */
export const SUSPECT_MARK = "†";

/** What {@linkcode SUSPECT_MARK} means. */
export const SUSPECT_LEGEND =
  `${SUSPECT_MARK} above SOL (sol_us): in no mean, never the best, neither won nor lost`;

/** Whether a recorded row is above SOL, by its median or, without one, its mean. */
export function isAboveSol(
  { status, cache, median_us, mean_us, sol_us }: CsvRow,
): boolean {
  if (status !== "ok") return false;
  return isSuspect({
    cache,
    time_us: numberIn(median_us) ?? numberIn(mean_us),
    sol_us: numberIn(sol_us),
  });
}

/** Whether a row that was just measured is above SOL. */
export function isTimedFasterThanLight(
  { figures: { median_us, sol_us }, provenance }: TimedRow,
): boolean {
  return isSuspect({
    cache: `${provenance.cache ?? ""}`,
    time_us: median_us,
    sol_us,
  });
}

function numberIn(text: string): number | undefined {
  return text === "" ? undefined : Number(text);
}

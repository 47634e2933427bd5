/**
 * Finds times that cannot be right: with a cold cache every operand comes from memory, so no
 * kernel is faster than the speed of light (SOL). `diff`, tables, charts and the page leave
 * such rows out of means, wins and bests alike, and count them.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";

/** The mark behind a time that is above SOL. */
export const SUSPECT_MARK = "†";

/**
 * Share of SOL below which a time is above it: SOL is measured too, and the same kernel reads up
 * to 4 % less at another place in memory (docs/notes/2026-11-23-process-state.md).
 */
const CLEARLY = 0.95;

/** The meaning of {@linkcode SUSPECT_MARK}. */
export const SUSPECT_LEGEND =
  `${SUSPECT_MARK} above SOL (sol_us) by over 5 %: in no mean, never the best, neither won nor lost`;

/** Returns whether a time is clearly above SOL. Times in microseconds; unknown ones never are. */
function isSuspect(
  { cache, time_us, sol_us }: {
    readonly cache: string;
    readonly time_us: number | undefined;
    readonly sol_us: number | undefined;
  },
): boolean {
  return cache === "cold" && time_us !== undefined && sol_us !== undefined &&
    time_us < CLEARLY * sol_us;
}

/** The columns that {@linkcode isAboveSol} and {@linkcode timeOf} read. */
export type TimeColumns = Pick<
  CsvRow,
  "status" | "cache" | "median_us" | "mean_us" | "sol_us"
>;

/**
 * Returns the time of a row in microseconds: its median or, for a published row without one,
 * its mean; undefined where it has none.
 */
export function timeOf(row: TimeColumns | undefined): number | undefined {
  if (row?.status !== "ok") return undefined;
  const text = row.median_us || row.mean_us;
  return text === "" ? undefined : Number(text);
}

/** Returns whether the time of `row` is above SOL. */
export function isAboveSol(row: TimeColumns): boolean {
  const { cache, sol_us } = row;
  return isSuspect({
    cache,
    time_us: timeOf(row),
    sol_us: sol_us === "" ? undefined : Number(sol_us),
  });
}

/** Returns the same as {@linkcode timeOf}, but undefined for a time above SOL. */
export function soundTimeOf(row: TimeColumns | undefined): number | undefined {
  return row === undefined || isAboveSol(row) ? undefined : timeOf(row);
}

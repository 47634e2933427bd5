/**
 * Finds suspect times. With a cold cache every operand comes from memory, so no kernel is faster
 * than the speed of light (SOL); and a kernel that remembers results does not compute them.
 * `diff`, tables, charts and the page leave such rows out of means, wins and bests alike, and
 * count them.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";

/** The mark behind a suspect time. */
export const SUSPECT_MARK = "†";

/**
 * Share of SOL below which a time is above it: SOL is measured too, and the same kernel reads up
 * to 4 % less at another place in memory (docs/notes/2026-11-23-process-state.md).
 */
const CLEARLY = 0.95;

/** The meaning of {@linkcode SUSPECT_MARK}. */
export const SUSPECT_LEGEND =
  `${SUSPECT_MARK} above SOL (sol_us) by over 5 %, or results may be remembered: in no mean, never the best, neither won nor lost`;

/**
 * The ends of the notes on a kernel that is slow only where its inputs are new, and on one with a
 * thread that works on.
 */
const REMEMBERED = /: results may be (?:remembered|computed ahead)(?:; |$)/;

/** Returns whether a time is clearly above SOL. Times in microseconds; unknown ones never are. */
function isAbove(
  { cache, time_us, sol_us }: {
    readonly cache: string;
    readonly time_us: number | undefined;
    readonly sol_us: number | undefined;
  },
): boolean {
  return cache === "cold" && time_us !== undefined && sol_us !== undefined &&
    time_us < CLEARLY * sol_us;
}

/** The columns that {@linkcode isSuspect} and {@linkcode timeOf} read. */
export type TimeColumns = Pick<
  CsvRow,
  "status" | "note" | "cache" | "median_us" | "mean_us" | "sol_us"
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
  return isAbove({
    cache,
    time_us: timeOf(row),
    sol_us: sol_us === "" ? undefined : Number(sol_us),
  });
}

/**
 * Returns whether `row` has a time, and a note that its kernel may remember results or compute them
 * ahead.
 */
export function isRemembered(row: TimeColumns): boolean {
  return timeOf(row) !== undefined && REMEMBERED.test(row.note);
}

/** Returns whether `row` has a time that is no measure of its kernel. */
export function isSuspect(row: TimeColumns): boolean {
  return isAboveSol(row) || isRemembered(row);
}

/** Returns the same as {@linkcode timeOf}, but undefined for a suspect time. */
export function soundTimeOf(row: TimeColumns | undefined): number | undefined {
  return row === undefined || isSuspect(row) ? undefined : timeOf(row);
}

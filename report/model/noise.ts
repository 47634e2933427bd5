/**
 * Finds rows that another run may give another median: of samples that spread widely, or taken
 * while the GPU lowered its clocks.
 *
 * @module
 */

import { MOST_RUNS } from "../../bench/model/settings.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { type Figures, loweredBy } from "../../bench/row/row.ts";

/**
 * Share of the median that the quartiles may be apart. A driver whose launches take turns
 * between 8 and 9.2 µs makes it 14 % on an H200 that does nothing else, and repeats to 1 %.
 */
const QUARTILES = 0.2;
/** Means beyond so many medians have interruptions in them. */
const MEAN = 1.2;
/** Share of the median that the deviation between runs may be. */
const RUNS = 0.05;

/** The figures that {@linkcode isNoisy} reads. */
type Spread = Pick<
  Figures,
  "median_us" | "q1_us" | "q3_us" | "mean_us" | "between_run_us"
>;

/** Returns whether a recorded row is noisy; false for one without a median or quartiles. */
export function isNoisyRow(row: CsvRow): boolean {
  if (row.status === "ok" && loweredBy(row.throttle) !== "") return true;
  if (row.median_us === "" || row.q1_us === "") return false;
  return isNoisy({
    median_us: Number(row.median_us),
    q1_us: Number(row.q1_us),
    q3_us: Number(row.q3_us),
    mean_us: Number(row.mean_us),
    between_run_us: Number(row.between_run_us),
  });
}

/**
 * Returns whether quartiles, mean or runs are further from the median than is usual.
 *
 * @example
 * ```ts
 * import { isNoisy } from "./noise.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const quiet = { median_us: 100, q1_us: 95, q3_us: 105, mean_us: 101 };
 * strictEqual(isNoisy(quiet), false);
 * strictEqual(isNoisy({ ...quiet, q3_us: 116 }), true);
 * strictEqual(isNoisy({ ...quiet, mean_us: 300 }), true);
 * strictEqual(isNoisy({ ...quiet, between_run_us: 6 }), true);
 * ```
 */
export function isNoisy(
  { median_us, q1_us, q3_us, mean_us, between_run_us = 0 }: Spread,
): boolean {
  return q3_us - q1_us > QUARTILES * median_us ||
    mean_us > MEAN * median_us ||
    between_run_us > RUNS * median_us;
}

/** Runs that are the first to try: their mean is little moved by one that was disturbed. */
const USUAL_RUNS = 5;

/** Returns a line that counts the noisy rows of `rows` and says what helps; none for none. */
export function noiseNotes(rows: readonly CsvRow[]): string[] {
  const noisy = rows.filter(isNoisyRow);
  const percent = (share: number) => `${100 * share} %`;
  return noisy.length === 0 ? [] : [
    `~ noisy (${noisy.length} of ${rows.length} rows): quartiles over ${
      percent(QUARTILES)
    } apart, mean over ${MEAN} medians, runs over ${
      percent(RUNS)
    } apart, or clocks lowered; try ${remedyFor(noisy)}`,
  ];
}

/** Returns what none of the noisy rows has had: more runs, and not only these where some had many. */
function remedyFor(noisy: readonly CsvRow[]): string {
  const most = Math.max(...noisy.map(({ runs }) => Number(runs)));
  if (most < USUAL_RUNS) return `--runs ${USUAL_RUNS}`;
  const more = Math.min(2 * most, MOST_RUNS);
  return `a quieter machine${more > most ? ` or --runs ${more}` : ""}`;
}

/**
 * Which rows' samples spread so widely that their medians are not to be trusted.
 *
 * @module
 */

import type { Figures } from "../../bench/row/row.ts";

/**
 * Share of the median that the quartiles may be apart. A driver whose launches take turns
 * between 8 and 9.2 µs makes it 14 % on an H200 that does nothing else, and repeats to 1 %.
 */
const QUARTILES = 0.2;
/** Means beyond so many medians have interruptions in them. */
const MEAN = 1.2;
/** Share of the median that the deviation between runs may be. */
const RUNS = 0.05;

/** What {@linkcode isNoisy} reads of a row. */
export type Spread = Pick<
  Figures,
  "median_us" | "q1_us" | "q3_us" | "mean_us" | "between_run_us"
>;

/**
 * Whether the samples spread so widely that another run may give another median.
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

/** The line that says how many of `all` rows are noisy, and the way out; none for none. */
export function noiseNotes(noisy: number, all: number): string[] {
  const percent = (share: number) => `${100 * share} %`;
  return noisy === 0 ? [] : [
    `~ noisy, ${noisy} of ${all} rows: quartiles more than ${
      percent(QUARTILES)
    } of the median apart, a mean beyond ${MEAN} medians, or runs that differ by ${
      percent(RUNS)
    }; geomeans count them too; measure on a quieter machine, with a longer --rep or with --runs 5`,
  ];
}

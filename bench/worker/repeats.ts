/**
 * Combines the repeats of a case in fresh workers into one row.
 *
 * @module
 */

import type { KeptRow } from "../row/csv_row.ts";
import type { TimedRow } from "../row/row.ts";
import { median, spread } from "../measure/stats.ts";

/**
 * The row that stands for `repeats` of one case, at least one.
 *
 * `median_us` is the median of their medians, `between_run_us` the sample standard
 * deviation of those; the rest is from the repeat in the middle (of two, the faster), its
 * rates scaled to that median. A repeat that failed makes the case one that failed.
 */
export function combine(repeats: readonly KeptRow[]): KeptRow {
  const failed = repeats.find((row) => row.status !== "ok");
  if (failed) return failed;
  const timed = (repeats as readonly TimedRow[]).toSorted((a, b) =>
    a.figures.median_us - b.figures.median_us
  );
  const medians = timed.map((row) => row.figures.median_us);
  const median_us = median(medians);
  const middle = timed[Math.ceil(timed.length / 2) - 1]!;
  const { figures } = middle;
  const between_run_us = spread(medians);
  const rate = figures.median_us / median_us;
  return {
    ...middle,
    figures: {
      ...figures,
      median_us,
      tflops: rate * figures.tflops,
      gbps: rate * figures.gbps,
      runs: timed.length,
      ...(between_run_us === undefined ? {} : { between_run_us }),
    },
  };
}

/** Makes rows of a CSV for tests. */

import type { Column, CsvRow } from "../../bench/row/csv_row.ts";
import { recordOf } from "../../bench/row/csv.ts";
import { timedRow } from "../../bench/testdata/rows.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";

/**
 * A timed row of 10 us with quartiles 1 % apart, and `change` in it. Its rates and its least time
 * follow, unless they are changed too.
 */
export function csvRow(
  change: Readonly<Partial<Record<Column, string>>> = {},
): CsvRow {
  const row = {
    ...recordOf(timedRow("kernel", { median_us: 10 })),
    m: "16",
    n: "16",
    k: "8192",
    q1_us: "9.95",
    q3_us: "10.05",
    min_us: "9.9",
    samples: "500",
    cache: "cold",
    flush: "zero",
    fill: "normal",
    seed: "0",
    driver: "580",
    source_hash: "aaaa",
    binary_hash: "bbbb",
    sm_mhz: "1980",
    power_w: "300",
    ...change,
  };
  const { median_us, min_us, q1_us, mean_us, flops, bytes } = row;
  if (median_us === "") return row;
  const least = [min_us, q1_us, mean_us, median_us].map(Number);
  return {
    ...row,
    min_us: `${Math.min(...least)}`,
    tflops: `${Number(flops) / Number(median_us) / 1e6}`,
    gbps: `${Number(bytes) / Number(median_us) / 1e3}`,
    ...change,
  };
}

/** Returns such a row with a file and a line. */
export function placed(
  change: Readonly<Partial<Record<Column, string>>> = {},
  { file = "a.csv", line = 2 } = {},
): SourcedRow {
  return { file, line, row: csvRow(change) };
}

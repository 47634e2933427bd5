/**
 * Checks rows of results by the rules of docs/guide/file-format.md, apart from the reader.
 *
 * @module
 */

import type { CsvRow } from "../../../bench/row/csv_row.ts";

const TIMES = ["median_us", "q1_us", "q3_us", "min_us", "mean_us"] as const;
const AMOUNTS = [
  ...["samples", "runs", "between_run_us", "flops", "bytes", "tflops", "gbps"],
  ...["sol_us", "floor_us", "mismatches", "bits", "m", "n", "k", "power_w"],
  ...["flush_bytes", "warmup_ms", "rep_ms", "search_configs", "search_ms"],
  ...["sm_mhz", "mem_mhz", "temp_c", "seed"],
] as const;
const YEAR_US = 365 * 24 * 3600e6;

/** Returns what is wrong with `rows`, one text for each flaw. */
export function flawsOf(rows: readonly CsvRow[]): readonly string[] {
  return rows.flatMap((row) => [...flawsOfRow(row)]);
}

function* flawsOfRow(row: CsvRow): Generator<string> {
  const number = (column: string) => Number(row[column as keyof CsvRow]);
  const has = (column: string) => row[column as keyof CsvRow] !== "";
  for (const column of [...TIMES, ...AMOUNTS]) {
    if (!has(column)) continue;
    const text = row[column as keyof CsvRow];
    const value = Number(text);
    if (
      !(value >= 0) || !Number.isFinite(value) || !/^[\d.e+-]+$/i.test(text)
    ) {
      yield `${column} is ${text}`;
    }
  }
  for (const column of TIMES) {
    if (number(column) > YEAR_US) yield `${column} is longer than a year`;
  }
  const time = has("median_us") ? number("median_us") : number("mean_us");
  if (row.status !== "ok") {
    if (time > 0) yield `a row that is ${row.status} has a time`;
    return;
  }
  if (!(time > 0)) yield "there is no time";
  for (
    const [rate, amount, scale] of [["tflops", "flops", 1e6], [
      "gbps",
      "bytes",
      1e3,
    ]] as const
  ) {
    if (!has(rate) || !has(amount)) continue;
    const expected = number(amount) / time / scale;
    if (Math.abs(number(rate) - expected) > 1e-6 * expected) {
      yield `${rate} is ${row[rate]}, and its columns say ${expected}`;
    }
  }
  for (
    const [low, high] of [
      ["min_us", "q1_us"],
      ["q1_us", "q3_us"],
      ["min_us", "mean_us"],
      ["min_us", "median_us"],
    ]
  ) {
    if (has(low!) && has(high!) && number(low!) > number(high!)) {
      yield `${low} is above ${high}`;
    }
  }
}

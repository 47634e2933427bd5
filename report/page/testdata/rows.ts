/**
 * Rows made up for tests of the report.
 *
 * @module
 */

import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { COLUMNS, SCHEMA } from "../../../bench/row/row.ts";
import type { ReportInput } from "../report.ts";

const USUAL: Partial<CsvRow> = {
  suite: "skinny",
  op: "matmul",
  kernel: "cublas",
  backend: "cuda",
  a_type: "bf16",
  b_type: "bf16",
  c_type: "bf16",
  acc_type: "f32",
  layout: "nn",
  m: "16",
  n: "16",
  k: "8192",
  device: "Test GPU",
  arch: "sm_90a",
  config_by: "fixed",
  status: "ok",
  median_us: "10",
  q1_us: "9.5",
  q3_us: "10.5",
  min_us: "9",
  mean_us: "10.1",
  samples: "100",
  runs: "1",
  tflops: "0.42",
  gbps: "52",
  sol_us: "5",
  timer: "do_bench",
  cache: "cold",
  flush: "zero",
  flush_bytes: "268435456",
  warmup_ms: "10",
  rep_ms: "50",
  fill: "normal",
  seed: "0",
  driver: "580.1",
  harness: "0.1.0",
  schema: `${SCHEMA}`,
  run: "abc",
  time: "2026-01-02T03:04:05.000Z",
};

/** A row of cuBLAS at 16×16×8192, but for `fields`. */
export function row(fields: Partial<CsvRow> = {}): CsvRow {
  const empty = Object.fromEntries(COLUMNS.map((column) => [column, ""]));
  const { median_us = "10" } = fields;
  const min_us = `${Math.min(9, Number(median_us || 9))}`;
  return { ...empty as CsvRow, ...USUAL, min_us, ...fields };
}

/** Medians of `kernels` at M = N of `sizes` and K of 8192 and 16384, each 1 us apart. */
export function sweep(
  kernels: readonly string[],
  sizes: readonly number[],
): CsvRow[] {
  return sizes.flatMap((size, s) =>
    [8192, 16384].flatMap((k, i) =>
      kernels.map((kernel, at) =>
        row({
          kernel,
          m: `${size}`,
          n: `${size}`,
          k: `${k}`,
          median_us: `${20 + 4 * s + 2 * i - 5 * at}`,
        })
      )
    )
  );
}

/** A report of `rows` against cuBLAS, without samples. */
export function inputOf(
  rows: readonly CsvRow[],
  rest: Partial<ReportInput> = {},
): ReportInput {
  return {
    now: { label: "new", rows, samples: () => undefined },
    baselines: { "": ["cublas"] },
    sources: ["skinny.csv"],
    ...rest,
  };
}

/**
 * Makes rows of our schema from published figures.
 *
 * @module
 */

import { COLUMNS, PUBLISHED, SCHEMA } from "../../bench/row/row.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { TYPE_BYTES } from "./decompose_k_columns.ts";

/**
 * A row with `fields`, the least work of a GEMM and the rates that follow. What
 * is not given is not known, and stays empty.
 */
export function publishedRow(fields: Partial<CsvRow>): CsvRow {
  const blank = Object.fromEntries(COLUMNS.map((column) => [column, ""]));
  const row = {
    ...blank as CsvRow,
    op: "matmul",
    acc_type: "f32",
    status: "ok",
    harness: PUBLISHED,
    schema: `${SCHEMA}`,
    ...fields,
  };
  const [m, n, k] = [row.m, row.n, row.k].map(Number) as [
    number,
    number,
    number,
  ];
  const size = (type: string) => TYPE_BYTES[type]!;
  const flops = 2 * m * n * k;
  const bytes = size(row.a_type) * m * k + size(row.b_type) * k * n +
    size(row.c_type) * m * n;
  const us = Number(row.median_us || row.mean_us);
  return {
    ...row,
    flops: `${flops}`,
    bytes: `${bytes}`,
    tflops: `${flops / us / 1e6}`,
    gbps: `${bytes / us / 1e3}`,
  };
}

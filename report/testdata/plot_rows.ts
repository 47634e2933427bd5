/** Rows to draw: a small suite with everything that goes wrong in one. */

import { mean } from "../../bench/measure/stats.ts";
import { recordOf } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { FIGURE_COLUMNS } from "../../bench/row/row.ts";
import { timedRow } from "../../bench/testdata/rows.ts";

/** A timed row of `kernel` at M = N. */
export function rowAt(
  kernel: string,
  [mn, k, us]: readonly [number, number, number],
  fields: Partial<CsvRow> = {},
): CsvRow {
  const [flops, bytes] = [2 * mn * mn * k, 4 * mn * k + 2 * mn * mn];
  const row = {
    ...recordOf(timedRow(kernel, { suite: "small", median_us: us })),
    m: `${mn}`,
    n: `${mn}`,
    k: `${k}`,
    params: "",
    q1_us: `${us * 0.96}`,
    q3_us: `${us * 1.05}`,
    flops: `${flops}`,
    bytes: `${bytes}`,
    tflops: `${flops / us / 1e6}`,
    gbps: `${bytes / us / 1e3}`,
    sol_us: `${2 + mn * k / 1e6}`,
    a_type: "bf16",
    device: "NVIDIA H200",
    arch: "sm_90a",
    cache: "cold",
    flush: "zero",
    driver: "580.1",
    harness: "0.1.0",
    time: "2026-01-02T03:04:05.678Z",
    ...fields,
  };
  const [samples] = samplesOf(row);
  if (samples === undefined) return row;
  const mean_us = `${mean(samples) / 1e3}`;
  return { ...row, samples: `${samples.length}`, mean_us, ...fields };
}

/** `row` without a time. */
export function failedRow(row: CsvRow, status: string): CsvRow {
  const none = FIGURE_COLUMNS.map((column) => [column, ""]);
  return { ...row, ...Object.fromEntries(none), status };
}

/** Names as long as they come, of more kernels than there are colours. */
const KERNELS = [
  "cublas",
  "cublaslt",
  "decompose-k-tile-unfused",
  "decompose-k",
  "somebody-elses-kernel-with-a-long-name",
  "mine",
  "yours",
  "theirs",
];

/** Eight kernels at 4 × 7 shapes: one is always wrong, two at times, one row is not there. */
export function plotRows(): CsvRow[] {
  const rows: CsvRow[] = [];
  for (const [i, kernel] of KERNELS.entries()) {
    for (const mn of [16, 32, 48, 64]) {
      for (let k = 8192; k <= 32768; k += 4096) {
        const us = 8 + mn / 16 + k / 8192 + i * 0.7 + (k * (i + 3) % 7) / 9;
        const row = rowAt(kernel, [mn, k, us]);
        if (kernel === "theirs") rows.push(failedRow(row, "unsupported"));
        else if (k === 16384 && i === 5) rows.push(failedRow(row, "timeout"));
        else if (mn === 48 && i === 0) rows.push(failedRow(row, "wrong"));
        else if (mn === 16 && k === 8192 && i === 3) continue;
        else rows.push(row);
      }
    }
  }
  return rows;
}

/** Measured rates of an H200. */
export const CALIBRATION = {
  marker_us: 1.3,
  launch_us: 3.5,
  load: [18, 20, 22, 24, 26, 27].map((power) => ({
    bytes: 2 ** power,
    us: 4.8 + 2 ** power / 3.6e6,
  })),
  peak: { bf16: 776e12 },
};

/** Samples of a case: steady, drifting or of two modes, by its K. */
export function samplesOf(row: CsvRow): readonly (readonly number[])[] {
  if (row.status !== "ok") return [];
  const ns = Number(row.median_us) * 1e3;
  const noise = (i: number) => 1 + ((i * 7919) % 101 - 50) / 2500;
  return [Array.from({ length: 200 }, (_, i) => {
    const drift = row.k === "8192" ? 1 + i / 2000 : 1;
    const mode = row.k === "12288" && i % 3 === 0 ? 1.3 : 1;
    return ns * drift * mode * noise(i);
  })];
}

/** Rows to test with. */

import {
  CASE_COLUMNS,
  type CaseKey,
  SCHEMA,
  type TimedRow,
} from "../row/row.ts";

/** The key of a case of kernel `kernel`. */
export function keyFor(kernel: string, suite = "s"): CaseKey {
  const texts = CASE_COLUMNS.map((column) => [column, `${column}0`]);
  const case0 = {
    backend: "cuda",
    layout: "nn",
    params: "param=0",
    a_type: "f32",
    b_type: "f32",
    c_type: "f32",
    acc_type: "f32",
    m: "1",
    n: "2",
    k: "3",
  };
  return { ...Object.fromEntries(texts), ...case0, suite, kernel } as CaseKey;
}

/** A timed row of that case. */
export function timedRow(
  kernel: string,
  { suite = "s", median_us = 4, run = "r" } = {},
): TimedRow {
  return {
    key: keyFor(kernel, suite),
    place: { device: "Fake (1)", arch: "fake" },
    config: "BM=16",
    config_by: "search",
    status: "ok",
    note: "",
    figures: {
      median_us,
      q1_us: median_us * 0.75,
      q3_us: median_us * 1.25,
      min_us: median_us / 2,
      mean_us: median_us,
      samples: 3,
      runs: 1,
      flops: 8e6,
      bytes: 4e3,
      tflops: 8 / median_us,
      gbps: 4 / median_us,
      floor_us: 1,
    },
    accuracy: {
      max_abs_err: 0.125,
      max_rel_err: 1e-3,
      rel_l2_err: 1e-4,
      mismatches: 0,
      deterministic: true,
    },
    provenance: { timer: "do_bench", cache: "cold", schema: SCHEMA, run },
  };
}

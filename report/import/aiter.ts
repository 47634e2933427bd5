/**
 * Imports AITER's tuned GEMMs: for each shape the library that was fastest on an AMD GPU.
 *
 * The time is a mean (of about a hundred calls, outliers left out), not a median, and is
 * kept as one. Inputs rotate, so the cache is cold without a flush.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { TORCH_TYPES } from "./decompose_k_columns.ts";
import {
  type Foreign,
  type ForeignRecord,
  needColumns,
  publishedRow,
} from "./foreign.ts";

/** The required columns. Published files also have scaleAB, bpreshuffle and solidx. */
const AITER_COLUMNS = [
  "gfx",
  "cu_num",
  "M",
  "N",
  "K",
  "bias",
  "dtype",
  "outdtype",
  "libtype",
  "splitK",
  "us",
  "kernelName",
  "err_ratio",
] as const;

const TYPES = Object.fromEntries(
  Object.entries(TORCH_TYPES).map(([torch, ours]) => [`torch.${torch}`, ours]),
);
const YES_OR_NO = { True: true, False: false } as const;

/**
 * The reader of a file's records. The suite is the column `file` where there is one, else
 * the file's name; the run names the GPU.
 */
export function aiterReader(
  foreign: Foreign,
  { file, run }: { file: string; run: string | undefined },
): (record: ForeignRecord) => CsvRow[] {
  needColumns(foreign, AITER_COLUMNS, file);
  return (record) => {
    if (record.text("scaleAB") === "True") {
      record.refuse("scaleAB", "and GEMMs of scaled operands have no row");
    }
    const bias = record.one("bias", YES_OR_NO);
    const gfx = record.text("gfx");
    if (!/^gfx[0-9a-f]+$/.test(gfx)) record.refuse("gfx", "not such as gfx950");
    const units = record.whole("cu_num");
    const kernel = record.text("libtype");
    if (kernel === "") record.refuse("libtype", "and every row has a library");
    const us = record.time("us", 0) ??
      record.refuse("us", "and every row has a time");
    const shuffled = record.text("bpreshuffle") === "True";
    const config = {
      KERNEL: record.text("kernelName").replaceAll(/\s+/g, "_"),
      SPLIT: record.whole("splitK", 0),
    };
    const type = record.one("dtype", TYPES);
    const row = publishedRow({
      suite: `aiter-${suiteOf(record.text("file") || file)}`,
      kernel,
      backend: "hip",
      a_type: type,
      b_type: type,
      c_type: record.one("outdtype", TYPES),
      // Weights are stored [N, K].
      layout: "nt",
      m: record.whole("M"),
      n: record.whole("N"),
      k: record.whole("K"),
      params: formatValues({
        epilogue: bias ? "bias" : "none",
        ...(shuffled ? { bpreshuffle: "true" } : {}),
      }),
      device: `AMD ${gfx} (${units} CUs)`,
      arch: gfx,
      config: formatValues(config),
      config_by: "tuner",
      note: `err_ratio ${record.text("err_ratio")}`,
      mean_us: us,
      timer: "perftest",
      cache: "cold",
      flush: "rotate",
      fill: "normal",
      seed: "0",
      run: run ?? `aiter-${gfx}-${units}cu`,
    });
    return [row];
  };
}

function suiteOf(file: string): string {
  return file.replace(/^.*[/\\]/, "").replace(/\.csv$/, "").toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-").replace("-bf16-tuned-gemm", "");
}

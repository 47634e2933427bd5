/**
 * Imports AITER's tuned GEMMs: for each shape the library that was fastest on an AMD GPU.
 *
 * The time is a mean (of about a hundred calls, outliers left out), not a median, and is
 * kept as one. Inputs rotate, so the cache is cold without a flush.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import { formatValues } from "../../bench/model/grid.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { keyText } from "../../bench/row/row.ts";
import {
  type ForeignRecord,
  needColumns,
  publishedRow,
  readForeign,
} from "./foreign.ts";

/** A column that only such files have. */
export const MARK = "cu_num";

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

const TYPES: Readonly<Record<string, string>> = {
  "torch.bfloat16": "bf16",
  "torch.float16": "f16",
  "torch.float32": "f32",
};
const YES_OR_NO = { True: true, False: false } as const;

/**
 * The rows of a CSV of AITER's. The suite is the column `file` where there is one, else `file`; the
 * run names the GPU.
 *
 * @param file Named in errors too.
 * @throws {UserError} For text that is no such CSV, naming file, row and column.
 */
export function importAiter(text: string, file: string): CsvRow[] {
  const foreign = readForeign(text, file);
  needColumns(foreign, AITER_COLUMNS, file);
  const seen = new Map<string, number>();
  return foreign.records.map((record) => {
    const row = rowOf(record, file);
    const identity = JSON.stringify([row.run, row.device, keyText(row)]);
    const before = seen.get(identity);
    if (before !== undefined) {
      throw new UserError(
        `Cannot import ${file}: row ${record.row} is ${row.kernel} at ${row.m}×${row.n}×${row.k} of ${row.suite}, and so is row ${before}; take one out`,
      );
    }
    seen.set(identity, record.row);
    return row;
  });
}

function rowOf(record: ForeignRecord, file: string): CsvRow {
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
  return publishedRow({
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
    run: `aiter-${gfx}-${units}cu`,
  });
}

function suiteOf(file: string): string {
  return file.replace(/^.*[/\\]/, "").replace(/\.csv$/, "").toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-").replace("-bf16-tuned-gemm", "");
}

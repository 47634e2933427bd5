/**
 * The decompose-k measurements of all versions in one file, in microseconds.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { EPILOGUE_FORM, PLAIN_FORM, type Role } from "./decompose_k_columns.ts";
import { configsOf, rowsOf } from "./decompose_k.ts";
import { type Foreign, type ForeignRecord, needColumns } from "./foreign.ts";

const TIMES: readonly (readonly [Role, string])[] = [
  ["eager", "eager_us"],
  ["compiled", "compiled_us"],
  ["custom", "custom_us"],
  ["unfused", "dk_unfused_us"],
  ["standalone", "dk_us"],
  ["tlxUnfused", "tlx_unfused_us"],
  ["tlx", "tlx_us"],
];
const TILES = ["split", "bm", "bn", "bk"] as const;
const TLX_TILES = ["tlx_split", "tlx_bm", "tlx_bn", "tlx_bk"] as const;

/** What its runs are called, by version. */
export const ALL_US_RUNS: Readonly<Record<string, string>> = {
  v1: "decompose-k-v1",
  v2: "decompose-k-v2",
  v3: "decompose-k-v3",
};

/** The reader of the file's records, each of the run of its version. */
export function allUsReader(
  foreign: Foreign,
  { file, run }: { file: string; run: string | undefined },
): (record: ForeignRecord) => CsvRow[] {
  const times = TIMES.map(([, column]) => column);
  const columns = ["version", "suite", "mn", "k", "dtype", "custom_impl"];
  needColumns(foreign, [...columns, ...times, ...TILES, ...TLX_TILES], file);
  return (record) => {
    const own = record.one("version", ALL_US_RUNS);
    if (run !== undefined && own !== run) return [];
    const form = record.text("dk_unfused_us") === ""
      ? PLAIN_FORM
      : EPILOGUE_FORM;
    const configs = {
      ...configsOf(record, TILES, TLX_TILES),
      custom: formatValues({
        IMPL: record.text("custom_impl"),
        K_SPLITS: record.text("custom_k_splits"),
      }),
    };
    return rowsOf(record, form, {
      suite: record.text("suite"),
      m: record.whole("mn"),
      n: record.whole("mn"),
      run: own,
      times: TIMES.filter(([role]) => form.kernels.some((k) => k.role === role))
        .map(([role, column]) => ({
          role,
          us: record.time(column, 0),
          config: configs[role] ?? "",
        })),
    });
  };
}

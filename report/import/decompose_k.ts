/**
 * Imports the CSVs of the decompose-k measurements: a file a suite, a line a shape, a column of
 * milliseconds a kernel.
 *
 * Their harness gave Triton's do_bench 10 ms and 50 ms and unscaled normal inputs of seed
 * 0, on an H100; that, and not the machine's state, is known of every row.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { formatValues } from "../../bench/model/grid.ts";
import {
  CUSTOM_COLUMNS,
  CUSTOM_TUNABLES,
  EPILOGUE_FORM,
  PLAIN_FORM,
  type Role,
  type SeedForm,
  TILE_COLUMNS,
  TILE_TUNABLES,
  TLX_TILE_COLUMNS,
  TORCH_TYPES,
} from "./decompose_k_columns.ts";
import {
  type Foreign,
  type ForeignRecord,
  needColumns,
  publishedRow,
} from "./foreign.ts";

/** The columns that all rows of these measurements share. */
const PROVENANCE: Partial<CsvRow> = {
  backend: "cuda",
  layout: "nn",
  device: "NVIDIA H100",
  arch: "sm_90",
  timer: "do_bench",
  cache: "cold",
  flush: "zero",
  flush_bytes: `${256 * 1024 * 1024}`,
  warmup_ms: "10",
  rep_ms: "50",
  fill: "normal",
  seed: "0",
  compiler: "triton 3.7.1",
  library: "torch 2.12.0.dev20260408+cu128",
};

/** A time, and the config that it was reached with. */
interface SeedTime {
  readonly role: Role;
  /** Digits of microseconds; nothing where the field is empty. */
  readonly us: string | undefined;
  readonly config: string;
}

/** The case of a line. */
interface SeedLine {
  readonly suite: string;
  /** The column with M. */
  readonly m: string;
  readonly n: string;
  readonly run: string;
  readonly times: readonly SeedTime[];
}

/** The reader of the records of one of the measurements' own files. */
export function seedReader(
  foreign: Foreign,
  { file, run }: { file: string; run: string },
): (record: ForeignRecord) => CsvRow[] {
  const form = foreign.columns.includes("decompose_k_fused_ms")
    ? EPILOGUE_FORM
    : PLAIN_FORM;
  const withTlx = foreign.columns.some((name) => name.startsWith("tlx_"));
  const columns = [...form.columns, ...(withTlx ? form.tlxColumns : [])];
  needColumns(foreign, columns, file);
  const kernels = form.kernels.filter(({ column }) => columns.includes(column));
  return (record) => {
    const configs = configsOf(record, TILE_COLUMNS, TLX_TILE_COLUMNS);
    const times = kernels.map(({ role, column }) => ({
      role,
      us: record.time(column, 3),
      config: configs[role] ?? "",
    }));
    return rowsOf(record, form, {
      suite: record.text("suite"),
      m: record.whole("m"),
      n: record.whole("n"),
      run,
      times,
    });
  };
}

/** The configs that a line names, by role. The unfused kernel ran at the fused one's. */
function configsOf(
  record: ForeignRecord,
  tiles: readonly string[],
  tlxTiles: readonly string[],
): Partial<Record<Role, string>> {
  const values = (columns: readonly string[], names: readonly string[]) =>
    formatValues(Object.fromEntries(
      columns.map((column, i) => [names[i]!, record.text(column)] as const)
        .filter(([, value]) => value !== ""),
    ));
  const standalone = values(tiles, TILE_TUNABLES);
  const tlx = values(tlxTiles, TILE_TUNABLES);
  return {
    custom: values(CUSTOM_COLUMNS, CUSTOM_TUNABLES),
    unfused: standalone,
    standalone,
    tlxUnfused: tlx,
    tlx,
  };
}

/** The rows of a line: one for each time that it has. */
function rowsOf(
  record: ForeignRecord,
  form: SeedForm,
  { suite, m, n, run, times }: SeedLine,
): CsvRow[] {
  if (suite === "") record.refuse("suite", "and every row has a suite");
  const type = record.one("dtype", TORCH_TYPES);
  return times.flatMap(({ role, us, config }) => {
    const kernel = form.kernels.find((k) => k.role === role)!;
    if (us === undefined) return [];
    return publishedRow({
      ...PROVENANCE,
      suite,
      kernel: kernel.published,
      a_type: type,
      b_type: type,
      c_type: type,
      m,
      n,
      k: record.whole("k"),
      params: `epilogue=${form.epilogue}`,
      config,
      config_by: config === "" ? "" : role === "custom" ? "tuner" : "search",
      median_us: us,
      run,
    });
  });
}

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

/** The names of its runs, by version. */
const ALL_US_RUNS: Readonly<Record<string, string>> = {
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

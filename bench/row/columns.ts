/**
 * Lists the columns of a CSV of results.
 *
 * @module
 */

/** Columns that say what a row is about: of one run, rows with the same are of the same case. */
export const CASE_COLUMNS = [
  "suite",
  "op",
  "kernel",
  "backend",
  "a_type",
  "b_type",
  "c_type",
  "acc_type",
  "layout",
  "m",
  "n",
  "k",
  "params",
] as const;

/** Columns that say how a case was timed: a run has one of each, results may have several. */
export const TIMING_COLUMNS = ["timer", "cache"] as const;

/** Columns of the key: a file of results has one row for each key. */
export const KEY_COLUMNS = [...CASE_COLUMNS, ...TIMING_COLUMNS] as const;

/** Columns that say where it ran. */
export const PLACE_COLUMNS = ["device", "arch"] as const;

/** Columns that say how it went. */
export const OUTCOME_COLUMNS = [
  "config",
  "config_by",
  "status",
  "note",
] as const;

/** Measured figures, in base units with the unit in the name. */
export const FIGURE_COLUMNS = [
  "median_us",
  "q1_us",
  "q3_us",
  "min_us",
  "mean_us",
  "samples",
  "runs",
  "between_run_us",
  "flops",
  "bytes",
  "tflops",
  "gbps",
  "sol_us",
  "floor_us",
] as const;

/** Errors against the reference. */
export const ACCURACY_COLUMNS = [
  "max_abs_err",
  "max_rel_err",
  "rel_l2_err",
  "mismatches",
  "deterministic",
  "bits",
] as const;

/** The provenance: what must match, or be named as a cause, when two rows are compared. */
export const PROVENANCE_COLUMNS = [
  "flush",
  "flush_bytes",
  "warmup_ms",
  "rep_ms",
  "fill",
  "seed",
  "search_configs",
  "search_ms",
  "sm_mhz",
  "mem_mhz",
  "power_w",
  "temp_c",
  "throttle",
  "machine",
  "clauses",
  "device_index",
  "device_uuid",
  "driver",
  "compiler",
  "library",
  "source_hash",
  "code_hash",
  "binary_hash",
  "harness",
  "commit",
  "dirty",
  "source_commit",
  "schema",
  "run",
  "time",
] as const;

/** Columns of the provenance that are numbers. */
export const AMOUNT_COLUMNS = [
  "flush_bytes",
  "warmup_ms",
  "rep_ms",
  "seed",
  "search_configs",
  "search_ms",
  "sm_mhz",
  "mem_mhz",
  "power_w",
  "temp_c",
  "device_index",
  "schema",
] as const satisfies readonly typeof PROVENANCE_COLUMNS[number][];

/** The columns of a CSV, in order. */
export const COLUMNS = [
  ...KEY_COLUMNS,
  ...PLACE_COLUMNS,
  ...OUTCOME_COLUMNS,
  ...FIGURE_COLUMNS,
  ...ACCURACY_COLUMNS,
  ...PROVENANCE_COLUMNS,
] as const;

/** The version of the columns and their meaning, written to every row. */
export const SCHEMA = 2;

/** Columns that schema 1 lacks. They are empty in rows read from it; nothing else changed. */
export const ADDED_COLUMNS = ["bits", "machine", "clauses"] as const;

/** Columns that older CSVs of either schema lack. They are empty in rows read from these. */
export const LATER_COLUMNS = [
  "device_index",
  "device_uuid",
  "code_hash",
  "commit",
  "dirty",
  "source_commit",
] as const;

/** The `harness` of a row that this program did not measure. */
export const PUBLISHED = "published";

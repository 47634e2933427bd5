/**
 * The one record that running writes and reporting reads.
 *
 * @module
 */

import type { Failure } from "../model/errors.ts";
import type { Case } from "../model/suite.ts";

/** Columns that say what a row is about. Rows with the same key are the same case. */
export const KEY_COLUMNS = [
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

/** How right it was. */
export const ACCURACY_COLUMNS = [
  "max_abs_err",
  "max_rel_err",
  "rel_l2_err",
  "mismatches",
  "deterministic",
] as const;

/** The provenance: what must match, or be named as a cause, when two rows are compared. */
export const PROVENANCE_COLUMNS = [
  "timer",
  "cache",
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
  "driver",
  "compiler",
  "library",
  "source_hash",
  "binary_hash",
  "harness",
  "schema",
  "run",
  "time",
] as const;

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
export const SCHEMA = 1;

/** The `harness` of a row that this program did not measure. */
export const PUBLISHED = "published";

type Texts<C extends readonly string[]> = Readonly<Record<C[number], string>>;

/** What a row is about, as text: the same strings are columns and join keys. */
export type Key = Texts<typeof KEY_COLUMNS>;
/** Where a row was measured. */
export type Place = Texts<typeof PLACE_COLUMNS>;

/** Durations are microseconds, rates 10¹² flops/s and 10⁹ bytes/s. */
export type Figures =
  & Readonly<
    Record<
      Exclude<typeof FIGURE_COLUMNS[number], "between_run_us" | "sol_us">,
      number
    >
  >
  & {
    /** Standard deviation of the medians of `runs` fresh workers. */
    readonly between_run_us?: number;
    /** The op's speed of light on this device, timed the same way. */
    readonly sol_us?: number;
  };

/** How far the output was from the reference. */
export interface Accuracy {
  readonly max_abs_err: number;
  readonly max_rel_err: number;
  /** ‖out - ref‖ / ‖ref‖. */
  readonly rel_l2_err: number;
  /** Elements beyond the tolerance. */
  readonly mismatches: number;
  /** Whether two runs gave the same bits. */
  readonly deterministic?: boolean;
}

/** How it was measured. Text and numbers as they go into the CSV. */
export type Provenance = Readonly<
  Partial<Record<typeof PROVENANCE_COLUMNS[number], string | number>>
>;

/** What every row has. */
export interface RowBase {
  readonly key: Key;
  readonly place: Place;
  readonly config: string;
  /** How the config was chosen; empty where none was. */
  readonly config_by: "fixed" | "first" | "search" | "cache" | "tuner" | "";
  readonly note: string;
  readonly provenance: Provenance;
}

/** A case that ran, was right and was timed. */
export interface TimedRow extends RowBase {
  readonly status: "ok";
  readonly figures: Figures;
  readonly accuracy: Accuracy;
}

/** A case that was only checked, and was right. Never in a CSV. */
export interface CheckedRow extends RowBase {
  readonly status: "checked";
  readonly accuracy: Accuracy;
}

/** A case without a timing, and why. */
export interface FailedRow extends RowBase {
  readonly status: Failure;
  /** Of a `wrong` output. */
  readonly accuracy?: Accuracy;
}

/** The outcome of a case. */
export type Row = TimedRow | CheckedRow | FailedRow;

/** The key of a case. */
export function keyOf({ suite, kernel, backend, problem }: Case): Key {
  const { m, n, k, ...rest } = problem.key;
  return {
    suite,
    op: problem.op,
    kernel,
    backend,
    ...rest,
    m: `${m}`,
    n: `${n}`,
    k: `${k}`,
  };
}

/** A key as one string: equal for equal keys, and only for them. */
export function keyText(key: Key): string {
  return JSON.stringify(KEY_COLUMNS.map((column) => key[column]));
}

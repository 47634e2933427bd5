/**
 * Defines the schema of a row as workers send it. Durations are microseconds, rates 10¹² flops/s and
 * 10⁹ bytes/s.
 *
 * @module
 */

import {
  boolean,
  exactOptional,
  type InferOutput,
  literal,
  nan,
  number,
  object,
  picklist,
  string,
  union,
  variant,
} from "valibot";
import type { Failure } from "../model/errors.ts";
import {
  CASE_COLUMNS,
  FIGURE_COLUMNS,
  KEY_COLUMNS,
  PLACE_COLUMNS,
  PROVENANCE_COLUMNS,
  TIMING_COLUMNS,
} from "./columns.ts";

/** The entries of an object with the same schema under each of `names`. */
export function each<const C extends string, S>(
  names: readonly C[],
  schema: S,
): Record<C, S> {
  const entries = names.map((name) => [name, schema] as const);
  return Object.fromEntries(entries) as Record<C, S>;
}

/** A number that may be NaN: the greatest error of an output that has one. */
export const anyNumber = union([number(), nan()]);

/** The schema of a case's key: text by column. */
export const caseKeySchema = object(each(CASE_COLUMNS, string()));

/** The schema of a row's key: text by column. */
export const keySchema = object(each(KEY_COLUMNS, string()));

const optionalFigures = {
  /** Standard deviation of the medians of `runs` fresh workers. */
  between_run_us: exactOptional(anyNumber),
  /** The op's speed of light on this device, timed the same way. */
  sol_us: exactOptional(anyNumber),
};

const neededFigures = FIGURE_COLUMNS.filter((column) =>
  !(column in optionalFigures)
) as Exclude<typeof FIGURE_COLUMNS[number], keyof typeof optionalFigures>[];

const figures = object({
  ...each(neededFigures, anyNumber),
  ...optionalFigures,
});

const accuracy = object({
  max_abs_err: anyNumber,
  max_rel_err: anyNumber,
  /** ‖out - ref‖ / ‖ref‖. */
  rel_l2_err: anyNumber,
  /** Elements beyond the tolerance. */
  mismatches: anyNumber,
  /** True if two runs gave the same bits. */
  deterministic: exactOptional(boolean()),
  /** Effective bits, from the error relative to that of exact products. */
  bits: exactOptional(anyNumber),
});

const provenance = object({
  ...each(TIMING_COLUMNS, string()),
  ...each(PROVENANCE_COLUMNS, exactOptional(union([string(), anyNumber]))),
});

/**
 * The schema of the source of a config; empty where none was chosen. `table` and `model` are those
 * of `auto`: a recorded row at the point, or a prediction.
 */
export const configBySchema = picklist([
  ...["fixed", "first", "search", "cache", "tuner"] as const,
  ...["table", "model", ""] as const,
]);

const base = {
  key: caseKeySchema,
  place: object(each(PLACE_COLUMNS, string())),
  config: string(),
  config_by: configBySchema,
  note: string(),
  provenance,
};

/** Why a case has no timing. */
export const FAILURES = [
  "unsupported",
  "compile",
  "launch",
  "oom",
  "wrong",
  "timeout",
  "crash",
  "untuned",
] as const satisfies readonly Failure[];

const timed = object({ ...base, status: literal("ok"), figures, accuracy });
const checked = object({ ...base, status: literal("checked"), accuracy });
const failed = object({
  ...base,
  status: picklist(FAILURES),
  /** Of a `wrong` output. */
  accuracy: exactOptional(accuracy),
});

/** The schema of the outcome of a case. */
export const rowSchema = variant("status", [timed, checked, failed]);

/** The key of a case: the same strings are columns and join keys. */
export type CaseKey = Readonly<InferOutput<typeof caseKeySchema>>;
/** The key of a row: its case, and how it was timed. */
export type Key = Readonly<InferOutput<typeof keySchema>>;
/** The device of a row. */
export type Place = Readonly<InferOutput<typeof base.place>>;
/** Measured figures of a case. */
export type Figures = Readonly<InferOutput<typeof figures>>;
/** Errors of the output against the reference. */
export type Accuracy = Readonly<InferOutput<typeof accuracy>>;
/** The conditions of a measurement: timer, cache, clocks, versions, hashes. */
export type Provenance = Readonly<InferOutput<typeof provenance>>;
/** A case that ran, was right and was timed. */
export type TimedRow = Readonly<InferOutput<typeof timed>>;
/** A case that was only checked, and was right. Never in a CSV. */
export type CheckedRow = Readonly<InferOutput<typeof checked>>;
/** A case without a timing, and why. */
export type FailedRow = Readonly<InferOutput<typeof failed>>;
/** The outcome of a case. */
export type Row = TimedRow | CheckedRow | FailedRow;
/** The fields of every row. */
export type RowBase = Omit<CheckedRow, "status" | "accuracy">;

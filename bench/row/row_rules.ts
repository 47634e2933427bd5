/**
 * What the values of a row may be, by column.
 *
 * @module
 */

import type { Column, CsvRow, KeptRow } from "./csv_row.ts";
import { FORM } from "./csv_records.ts";
import { hasTexts } from "../files/json_shape.ts";
import { FIGURE_COLUMNS, type Key, KEY_COLUMNS, SCHEMA } from "./row.ts";

/** What is wrong with a value; nothing where it may stand. */
type Rule = (value: string) => string | undefined;

/** What the `status` of a kept row may be. */
export const STATUSES: readonly string[] = [
  "ok",
  "unsupported",
  "compile",
  "launch",
  "oom",
  "wrong",
  "timeout",
  "crash",
  "untuned",
] satisfies KeptRow["status"][];

const DECIMAL = /^\d+(\.\d+)?(e[+-]?\d+)?$/i;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const count: Rule = (value) =>
  /^\d*$/.test(value) ? undefined : "it is no count";

const amount: Rule = (value) => {
  if (value === "") return undefined;
  if (value.startsWith("-")) return "it is negative";
  return DECIMAL.test(value) && Number.isFinite(Number(value))
    ? undefined
    : "it is no finite number";
};

/** A picosecond and a year, in microseconds: whoever draws or divides counts on some sense. */
const [LEAST_US, MOST_US] = [1e-6, 365 * 24 * 3600e6];

const duration: Rule = (value) => {
  const flaw = amount(value);
  if (flaw !== undefined || value === "") return flaw;
  const us = Number(value);
  if (us === 0) return "it is not above 0";
  if (us < LEAST_US) return "less than a picosecond is no measurement";
  return us > MOST_US ? "more than a year is no measurement" : undefined;
};

/** Of a sample that may be less than a tick of the clock. */
const bound: Rule = (value) =>
  amount(value) ??
    (Number(value) > MOST_US
      ? "more than a year is no measurement"
      : undefined);

/** The greatest error of an output that has NaN is NaN. */
const error: Rule = (value) =>
  value === "NaN" || value === "Infinity" ? undefined : amount(value);

const oneOf = (values: readonly string[]): Rule => (value) =>
  values.includes(value) ? undefined : `there is only ${values.join(", ")}`;

const RULES: Partial<Record<Column, Rule>> = {
  m: count,
  n: count,
  k: count,
  status: oneOf(STATUSES),
  ...Object.fromEntries(FIGURE_COLUMNS.map((column) => [column, amount])),
  median_us: duration,
  mean_us: duration,
  q1_us: bound,
  q3_us: bound,
  min_us: bound,
  samples: count,
  runs: count,
  max_abs_err: error,
  max_rel_err: error,
  rel_l2_err: error,
  mismatches: amount,
  deterministic: (value) =>
    ["", "true", "false"].includes(value)
      ? undefined
      : "there is only true and false",
  flush_bytes: amount,
  warmup_ms: amount,
  rep_ms: amount,
  search_configs: amount,
  search_ms: amount,
  sm_mhz: amount,
  mem_mhz: amount,
  power_w: amount,
  schema: (value) =>
    value === `${SCHEMA}` ? undefined : `this program reads ${SCHEMA}`,
  time: (value) =>
    value === "" || TIME.test(value) ? undefined : "it is no date and time",
};

/** What is wrong with `value` in `column`; nothing where it may stand there. */
export function flawOf(column: Column, value: string): string | undefined {
  return RULES[column]?.(value);
}

/**
 * The greatest of {@linkcode FORM} with which every value may stand in `column`, so that
 * most need not be looked at; -1 where none may, `other` where all may.
 */
export function freeForm(column: Column): number {
  const rule = RULES[column];
  if (rule === undefined) return FORM.other;
  if (rule === count) return FORM.digits;
  return rule === amount || rule === error ? FORM.decimal : -1;
}

/** The first column that is empty although `row`'s status says that it is not. */
export function lackOf(row: CsvRow): Column | undefined {
  if (row.kernel === "") return "kernel";
  if (row.status !== "ok" || row.median_us !== "") return undefined;
  // Others publish means.
  const isMean = row.harness === "published" && row.mean_us !== "";
  return isMean ? undefined : "median_us";
}

/** Whether `value` is a case's key. */
export function isKey(value: unknown): value is Key {
  return hasTexts(value, KEY_COLUMNS);
}

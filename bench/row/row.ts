/**
 * Defines the row: the one record that running writes and reporting reads; its keys and axes.
 *
 * @module
 */

import type { Case } from "../model/suite.ts";
import {
  CASE_COLUMNS,
  KEY_COLUMNS,
  PLACE_COLUMNS,
  PUBLISHED,
} from "./columns.ts";
import type { CaseKey, Key, RowBase } from "./row_schema.ts";
import type { CsvRow } from "./csv_row.ts";
import { parseValues } from "../model/grid.ts";
import { AXIS_COLUMNS } from "../model/problem.ts";

export * from "./columns.ts";
export type {
  Accuracy,
  CaseKey,
  CheckedRow,
  FailedRow,
  Figures,
  Key,
  Place,
  Provenance,
  Row,
  RowBase,
  TimedRow,
} from "./row_schema.ts";

/** The key of a case. */
export function keyOf({ suite, kernel, backend, problem }: Case): CaseKey {
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

/** The key of a case as one string: equal for equal keys, and only for them. */
export function caseText(key: CaseKey): string {
  return JSON.stringify(CASE_COLUMNS.map((column) => key[column]));
}

/** The kernel of a case as one string: equal for those of one suite and backend with one name. */
export function kernelText({ suite, kernel, backend }: CaseKey): string {
  return JSON.stringify([suite, kernel, backend]);
}

/** The key of a row of a run. */
export function rowKey(
  { key, provenance: { timer, cache } }: Pick<RowBase, "key" | "provenance">,
): Key {
  return { ...key, timer, cache };
}

/** The key of a row as one string: equal for equal keys, and only for them. */
export function keyText(key: Key): string {
  return JSON.stringify(KEY_COLUMNS.map((column) => key[column]));
}

/** The end of the note on a case that failed once, and was right in processes of its own. */
export const RIGHT_ALONE =
  "right when repeated alone: a race or uninitialised data in it, or something that an earlier kernel left behind";

/** The columns of a key and its device. */
export const IDENTITY_COLUMNS = [...KEY_COLUMNS, ...PLACE_COLUMNS] as const;

/**
 * Returns the key and the device of a row as one string: equal for equal ones, and only
 * for them, as no field of a readable CSV has a NUL.
 */
export function identityOf(row: CsvRow): string {
  return IDENTITY_COLUMNS.map((column) => row[column]).join("\0");
}

/** Returns whether `row` was imported from figures that others published. */
export function isPublished(row: Pick<CsvRow, "harness">): boolean {
  return row.harness === PUBLISHED;
}

/** The columns that {@linkcode axesOf} reads. */
export type AxisColumns = Readonly<
  Record<typeof AXIS_COLUMNS[number] | "params", string>
>;

/**
 * The value of each axis of `key`, as text: its columns, then the entries of `params`, which
 * take precedence: an operation on a list of problems has its lists there.
 *
 * @example
 * ```ts
 * import { axesOf } from "./row.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const types = { a_type: "bf16", b_type: "u32", c_type: "bf16", acc_type: "f32" };
 * const sizes = { m: "1", n: "64", k: "128", layout: "nt" };
 * const axes = axesOf({ ...types, ...sizes, params: "mode=affine bits=4" });
 * strictEqual(axes.bits, "4");
 * strictEqual(axes.m, "1");
 * ```
 */
export function axesOf(
  key: AxisColumns | Key,
): Readonly<Record<string, string>> {
  const axes: Record<string, string> = {};
  for (const column of AXIS_COLUMNS) axes[column] = key[column];
  for (const [name, value] of Object.entries(parseValues(key.params))) {
    axes[name] = `${value}`;
  }
  return axes;
}

/** Reasons that are settings of a GPU, the same for all of its rows. */
const SETTINGS = [
  "applications_clocks_setting",
  "display_clock_setting",
  "sync_boost",
];

/**
 * Returns the reasons in the column `throttle` for which a GPU lowered its clocks by itself:
 * power, temperature.
 *
 * @example
 * ```ts
 * import { loweredBy } from "./row.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(loweredBy("applications_clocks_setting+sw_power_cap"), "sw_power_cap");
 * strictEqual(loweredBy("applications_clocks_setting"), "");
 * ```
 */
export function loweredBy(throttle: string): string {
  return throttle.split("+").filter((reason) => !SETTINGS.includes(reason))
    .join("+");
}

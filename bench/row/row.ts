/**
 * Defines the row: the one record that running writes and reporting reads.
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

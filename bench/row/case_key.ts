/**
 * Compares rows by what they are about.
 *
 * @module
 */

import type { CsvRow } from "./csv_row.ts";
import { KEY_COLUMNS, PLACE_COLUMNS, PUBLISHED } from "./row.ts";

/** The columns of a case and its device. */
export const IDENTITY_COLUMNS = [...KEY_COLUMNS, ...PLACE_COLUMNS] as const;

/**
 * Returns the case and the device of a row as one string: equal for equal ones, and only
 * for them, as no field of a readable CSV has a NUL.
 */
export function identityOf(row: CsvRow): string {
  return IDENTITY_COLUMNS.map((column) => row[column]).join("\0");
}

/** Returns the case of a row, on whatever device, as one string. */
export function caseOf(row: CsvRow): string {
  return KEY_COLUMNS.map((column) => row[column]).join("\0");
}

/** Whether `row` was imported from figures that others published. */
export function isPublished(row: Pick<CsvRow, "harness">): boolean {
  return row.harness === PUBLISHED;
}

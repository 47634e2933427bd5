/**
 * Compares rows by what they are about.
 *
 * @module
 */

import type { CsvRow } from "./csv_row.ts";
import { KEY_COLUMNS, PLACE_COLUMNS, PUBLISHED } from "./row.ts";

/**
 * Returns the case and the device of a row as one string: equal for equal ones, and only
 * for them, as no field of a readable CSV has a NUL.
 */
export function identityOf(row: CsvRow): string {
  let text = caseOf(row);
  for (const column of PLACE_COLUMNS) text += `${row[column]}\0`;
  return text;
}

/** Returns the case of a row, on whatever device, as one string. */
export function caseOf(row: CsvRow): string {
  let text = "";
  for (const column of KEY_COLUMNS) text += `${row[column]}\0`;
  return text;
}

/** Whether `row` was imported from figures that others published. */
export function isPublished(row: Pick<CsvRow, "harness">): boolean {
  return row.harness === PUBLISHED;
}

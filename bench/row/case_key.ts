/**
 * What a row of a CSV is about, as one string.
 *
 * @module
 */

import type { CsvRow } from "./csv_row.ts";
import { KEY_COLUMNS, PLACE_COLUMNS } from "./row.ts";

/**
 * What a row is about and where it ran, as one string: equal for equal ones, and only for
 * them, as no field of a text that could be read has a NUL.
 */
export function identityOf(row: CsvRow): string {
  let text = caseOf(row);
  for (const column of PLACE_COLUMNS) text += `${row[column]}\0`;
  return text;
}

/** The same of what a row is about alone, wherever it ran. */
export function caseOf(row: CsvRow): string {
  let text = "";
  for (const column of KEY_COLUMNS) text += `${row[column]}\0`;
  return text;
}

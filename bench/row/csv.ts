/**
 * Writes rows as CSV, and converts them to text by column.
 *
 * @module
 */

import { stringify } from "@std/csv";
import { UserError } from "../model/errors.ts";
import { COLUMNS, type Row, SCHEMA } from "./row.ts";
import {
  type Column,
  type CsvRow,
  type KeptRow,
  MOST_CHARACTERS,
} from "./csv_row.ts";

/**
 * Formats `records` as RFC 4180 text with LF ends: a line each, or several where a field
 * has line feeds. A cell that a spreadsheet would run begins with an apostrophe: see
 * {@linkcode unguarded}.
 */
export function writeTable(records: readonly (readonly string[])[]): string {
  const text = stringify(
    records.map((fields) => fields.map((value) => guarded(formatField(value)))),
  );
  // The only line ends with CR are those that were just put between records.
  return text.replaceAll("\r\n", "\n");
}

/** Starts of cells that spreadsheets run, also behind the apostrophes of {@linkcode guarded}. */
const FORMULA = /^'*[=+\-@\t\n＝＋－＠]/u;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Returns `text` with an apostrophe before it where a spreadsheet would take it for a formula.
 * Numbers stay as they are.
 */
function guarded(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/**
 * Returns the text of a cell that {@linkcode writeTable} wrote.
 *
 * @example
 * ```ts
 * import { unguarded } from "./csv.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(unguarded("'=1+1"), "=1+1");
 * strictEqual(unguarded("'s"), "'s");
 * ```
 */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/**
 * Formats a value as a field. Numbers are the shortest text that reads back the same. The
 * parser gives every line end in a field as LF, so it is written as one.
 */
function formatField(value: string | number | boolean | undefined): string {
  return value === undefined ? "" : `${value}`.replaceAll(/\r\n?/g, "\n");
}

/** Returns the start of a note that is longer than a cell may be: a compiler wrote it. */
function clipped(note: string): string {
  return note.length <= MOST_CHARACTERS
    ? note
    : `${note.slice(0, MOST_CHARACTERS - 1)}…`;
}

/** Returns the fields of `row`, in the order of {@linkcode COLUMNS}. */
export function formatRow(row: Row): string[] {
  const values: Partial<Record<Column, string | number | boolean>> = {
    ...row.key,
    ...row.place,
    ...row.provenance,
    ...("figures" in row ? row.figures : {}),
    ...row.accuracy,
    config: row.config,
    config_by: row.config_by,
    status: row.status,
    note: clipped(row.note),
    schema: SCHEMA,
  };
  return COLUMNS.map((column) => formatField(values[column]));
}

/** Converts `row` to what stands in a CSV. */
export function recordOf(row: Row): CsvRow {
  const fields = formatRow(row);
  return Object.fromEntries(COLUMNS.map((c, i) => [c, fields[i]!])) as CsvRow;
}

/** Formats a whole CSV: header, then `rows`. */
export function writeCsv(rows: Iterable<KeptRow | CsvRow>): string {
  const records = Array.from(
    rows,
    (row) => isKept(row) ? formatRow(row) : COLUMNS.map((c) => row[c]),
  );
  return writeTable([[...COLUMNS], ...records]);
}

/** Returns the number in `column`, or nothing where it is empty. @throws {UserError} */
export function numberOf(row: CsvRow, column: Column): number | undefined {
  const text = row[column];
  if (text === "") return undefined;
  const value = Number(text);
  // "NaN" is a value: the greatest error of an output that has one.
  if (Number.isNaN(value) && text !== "NaN") {
    throw new UserError(`Column ${column} is ${text}, which is not a number`);
  }
  return value;
}

function isKept(row: KeptRow | CsvRow): row is KeptRow {
  return "key" in row;
}

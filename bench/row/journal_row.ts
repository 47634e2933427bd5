/**
 * A row as a journal has it: a CSV's columns, then the repeat that it belongs to.
 *
 * @module
 */

import { formatRow, header, rowOf } from "./csv.ts";
import type { Column, CsvRow, KeptRow } from "./csv_row.ts";
import { UserError } from "../model/errors.ts";
import { ACCURACY_COLUMNS, COLUMNS, keyText } from "./row.ts";
import { flawOf, lackOf } from "./row_rules.ts";
import { show } from "../model/show_value.ts";
import { readTable, writeTable } from "./csv_table.ts";

/** A kept row and the repeat, from 0, that it belongs to. */
export interface JournalRow {
  readonly row: KeptRow;
  readonly repeat: number;
}

const AFRESH = "pass --fresh to measure everything again";

/** The first line of a journal. */
export const JOURNAL_HEADER = writeTable([[...header(), "repeat"]]);

/** A line of a journal. */
export function formatJournalRow({ row, repeat }: JournalRow): string {
  return writeTable([[...formatRow(row), `${repeat}`]]);
}

/**
 * The rows of a journal.
 *
 * @param file Named in errors.
 * @throws {UserError} Where they are of another schema, or something else wrote in it.
 */
export function readJournalRows(text: string, file: string): JournalRow[] {
  if (text === "") return [];
  const records = readTable(text, file, {
    columns: [...COLUMNS, "repeat"],
    wayOut: AFRESH,
  });
  return records.map(({ line, fields: { repeat, ...record } }) => {
    const refuse = (why: string) => unreadable(file, `line ${line}, ${why}`);
    if (!/^\d{1,9}$/.test(repeat)) {
      throw refuse(`column repeat is ${show(repeat)}: it is no count`);
    }
    return { row: readRow(record, refuse), repeat: Number(repeat) };
  });
}

/** The row that `record` has: by the rules of a CSV, since it will stand in one. */
function readRow(
  record: CsvRow,
  refuse: (why: string) => UserError,
): KeptRow {
  for (const column of COLUMNS) {
    const flaw = flawOf(column, nowadays(column, record[column]));
    if (flaw === undefined) continue;
    throw refuse(`column ${column} is ${show(record[column])}: ${flaw}`);
  }
  const lack = lackOf(record);
  if (lack !== undefined) throw refuse(`column ${lack} is empty`);
  try {
    return rowOf(record);
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    throw refuse(cause.message);
  }
}

/** What JSON made of NaN in the errors of earlier versions, as it is written now. */
function nowadays(column: Column, value: string): string {
  const errors: readonly string[] = ACCURACY_COLUMNS;
  return value === "null" && errors.includes(column) ? "NaN" : value;
}

/** The error for a file of a run that only measuring again replaces. */
export function unreadable(file: string, why: string): UserError {
  return new UserError(`Cannot read ${file}: ${why}; ${AFRESH}`);
}

/** Equal for rows of the same case and repeat, and only for them. */
export function idOf({ row, repeat }: JournalRow): string {
  return `${repeat} ${keyText(row.key)}`;
}

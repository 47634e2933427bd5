/**
 * Reads and writes rows of a journal: a CSV's columns, then the repeat that a row belongs to.
 *
 * @module
 */

import { parse } from "@std/csv";
import { formatRow, rowOf, writeTable } from "./csv.ts";
import { type CsvRow, flawOf, type KeptRow, lacksTime } from "./csv_row.ts";
import { show, UserError } from "../model/errors.ts";
import { COLUMNS, keyText } from "./row.ts";

/** A kept row and the repeat, from 0, that it belongs to. */
export interface JournalRow {
  readonly row: KeptRow;
  readonly repeat: number;
}

const AFRESH = "pass --fresh to measure everything again";

/** The first line of a journal. */
export const JOURNAL_HEADER = writeTable([[...COLUMNS, "repeat"]]);

/** Formats a line of a journal. */
export function formatJournalRow({ row, repeat }: JournalRow): string {
  return writeTable([[...formatRow(row), `${repeat}`]]);
}

/**
 * Reads the rows of a journal.
 *
 * @param file Named in errors.
 * @throws {UserError} With line and column, where they are of another schema, or something
 * else wrote in it.
 */
export function readJournalRows(text: string, file: string): JournalRow[] {
  if (text === "") return [];
  if (!text.startsWith(JOURNAL_HEADER)) {
    throw unreadable(file, "line 1: its columns are of another version");
  }
  let records: string[][];
  try {
    records = parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw unreadable(file, cause.message);
  }
  let next = 1;
  return records.flatMap((fields, i) => {
    const line = next;
    next += fields.join("").split("\n").length;
    if (i === 0) return [];
    return [readRow(fields, (why) => unreadable(file, `line ${line}, ${why}`))];
  });
}

/** Reads a row by the rules of a CSV, since it will stand in one. */
function readRow(
  fields: readonly string[],
  refuse: (why: string) => UserError,
): JournalRow {
  const width = COLUMNS.length + 1;
  if (fields.length !== width) {
    throw refuse(`column repeat: ${fields.length} fields, not ${width}`);
  }
  const repeat = fields.at(-1)!;
  if (!/^\d{1,9}$/.test(repeat)) {
    throw refuse(
      `column repeat is ${show(repeat)}: it must be a whole number`,
    );
  }
  for (const [i, column] of COLUMNS.entries()) {
    const flaw = flawOf(column, fields[i]!);
    if (flaw === undefined) continue;
    throw refuse(`column ${column} is ${show(fields[i]!)}: ${flaw}`);
  }
  const record = Object.fromEntries(
    COLUMNS.map((column, i) => [column, fields[i]!]),
  ) as CsvRow;
  if (lacksTime(record)) throw refuse("column median_us is empty");
  try {
    return { row: rowOf(record), repeat: Number(repeat) };
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    throw refuse(cause.message);
  }
}

/** Makes the error for a file of a run that only measuring again replaces. */
export function unreadable(file: string, why: string): UserError {
  return new UserError(`Cannot read ${file}: ${why}; ${AFRESH}`);
}

/** Returns a text that is equal for rows of the same case and repeat, and only for them. */
export function idOf({ row, repeat }: JournalRow): string {
  return `${repeat} ${keyText(row.key)}`;
}

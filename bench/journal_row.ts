/**
 * A row as a journal has it: a CSV's columns, then the repeat that it belongs to.
 *
 * @module
 */

import { type CsvRow, formatRow, header, type KeptRow, rowOf } from "./csv.ts";
import { UserError } from "./errors.ts";
import { COLUMNS, keyText } from "./row.ts";
import { readTable, writeTable } from "./table.ts";

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
  return records.map(({ repeat, ...record }, i) => {
    const where = `record ${i + 1}`;
    if (!/^\d{1,9}$/.test(repeat)) {
      throw unreadable(file, `column repeat of ${where} is ${repeat}`);
    }
    return { row: readRow(record, { file, where }), repeat: Number(repeat) };
  });
}

function readRow(
  record: CsvRow,
  { file, where }: { file: string; where: string },
): KeptRow {
  try {
    return rowOf(record);
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    throw unreadable(file, `${where}: ${cause.message}`);
  }
}

/** The error for a file of a run that only measuring again replaces. */
export function unreadable(file: string, why: string): UserError {
  return new UserError(`Cannot read ${file}: ${why}; ${AFRESH}`);
}

/** Equal for rows of the same case and repeat, and only for them. */
export function idOf({ row, repeat }: JournalRow): string {
  return `${repeat} ${keyText(row.key)}`;
}

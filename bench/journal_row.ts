/**
 * A row as a journal has it: a CSV's columns, then the repeat that it belongs to.
 *
 * @module
 */

import { formatRow, header, type KeptRow, rowOf } from "./csv.ts";
import { COLUMNS, keyText } from "./row.ts";
import { readTable, writeTable } from "./table.ts";

/** A kept row and the repeat, from 0, that it belongs to. */
export interface JournalRow {
  readonly row: KeptRow;
  readonly repeat: number;
}

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
 * @throws {UserError} Where they are of another schema.
 */
export function readJournalRows(text: string, file: string): JournalRow[] {
  if (text === "") return [];
  const records = readTable(text, file, {
    columns: [...COLUMNS, "repeat"],
    wayOut: "pass --fresh to measure everything again",
  });
  return records.map(({ repeat, ...record }) => ({
    row: rowOf(record),
    repeat: Number(repeat),
  }));
}

/** Equal for rows of the same case and repeat, and only for them. */
export function idOf({ row, repeat }: JournalRow): string {
  return `${repeat} ${keyText(row.key)}`;
}

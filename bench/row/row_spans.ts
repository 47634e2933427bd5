/**
 * Rows as positions in the text that they stand in.
 *
 * @module
 */

import type { Column, CsvRow } from "./csv_row.ts";
import { COLUMNS } from "./row.ts";
import { fieldBetween, type Records } from "./csv_records.ts";

/** The rows of one text. */
export class RowTable {
  readonly #text: string;
  readonly #width: number;
  /** `width + 1` positions for each row, as {@linkcode Records} gives them. */
  #starts: Uint32Array;
  #rows = 0;
  readonly #at: ReadonlyMap<Column, number>;

  /** @param names The columns, in the order of the text. */
  constructor(text: string, names: readonly Column[]) {
    this.#text = text;
    this.#width = names.length;
    this.#at = new Map(names.map((name, i) => [name, i]));
    this.#starts = new Uint32Array((names.length + 1) * 1024);
  }

  /** Takes the last record of `records` in as a row. */
  add({ starts }: Records): CsvRow {
    const width = this.#width + 1;
    const first = this.#rows++ * width;
    if (first + width > this.#starts.length) {
      const more = new Uint32Array(2 * this.#starts.length);
      more.set(this.#starts);
      this.#starts = more;
    }
    for (let i = 0; i < width; i++) this.#starts[first + i] = starts[i]!;
    return new RowView(this, first) as object as CsvRow;
  }

  /** The value of `column` in the row whose positions begin at `first`. */
  value(first: number, column: Column): string {
    const at = first + this.#at.get(column)!;
    return fieldBetween(
      this.#text,
      this.#starts[at]!,
      this.#starts[at + 1]! - 1,
    );
  }
}

/** A row whose values are cut out when they are asked for, by a getter for each column. */
class RowView {
  constructor(readonly table: RowTable, readonly first: number) {}
}

for (const column of COLUMNS) {
  Object.defineProperty(RowView.prototype, column, {
    get(this: RowView) {
      return this.table.value(this.first, column);
    },
  });
}

// V8 copies an object that came from JSON.parse() in one go; one from
// Object.fromEntries() it keeps as a hash table, of three times the size.
const EMPTY: CsvRow = JSON.parse(
  JSON.stringify(Object.fromEntries(COLUMNS.map((column) => [column, ""]))),
);

/** `row` with values of its own: it can be spread, listed and kept without its text. */
export function ownValues(row: CsvRow): CsvRow {
  const own: Record<Column, string> = { ...EMPTY };
  for (const column of COLUMNS) own[column] = row[column];
  return own;
}

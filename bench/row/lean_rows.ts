/**
 * Stores rows in blocks, for comparisons of 100,000 rows: as objects of 60 strings they take
 * five times the memory.
 *
 * @module
 */

import type { Column, CsvRow } from "./csv_row.ts";
import { COLUMNS } from "./row.ts";

/** Collects the values of one row after the other; a row starts as a copy of the last. */
export interface RowMaker {
  /** Sets the value of the column at position `i` of the file. */
  set(i: number, value: string): void;
  /** Returns the row. */
  take(): CsvRow;
}

/** Makes plain objects. */
export class PlainRows implements RowMaker {
  readonly #names: readonly Column[];
  // V8 copies an object that came from JSON.parse() in one go; one from
  // Object.fromEntries() it keeps as a hash table of three times the size.
  readonly #row: Record<Column, string> = JSON.parse(
    JSON.stringify(Object.fromEntries(COLUMNS.map((column) => [column, ""]))),
  );

  /** @param names The columns in the order of the file. */
  constructor(names: readonly Column[]) {
    this.#names = names;
  }

  /** Sets a value. */
  set(i: number, value: string): void {
    this.#row[this.#names[i]!] = value;
  }

  /** Returns a copy of what is set. */
  take(): CsvRow {
    return { ...this.#row };
  }
}

/** Rows of a block: few enough that 16 bits number their values. */
const BLOCK_ROWS = 128;

/** Values of some rows: each row has the numbers of its values. */
class Block {
  readonly cells: Uint16Array;
  #values: string[] | undefined = [];
  #text = "";
  #ends: Uint16Array | Uint32Array = new Uint16Array();

  constructor(readonly at: ReadonlyMap<Column, number>) {
    this.cells = new Uint16Array(BLOCK_ROWS * at.size);
  }

  /** Adds a value. @returns Its number. */
  add(value: string): number {
    return this.#values!.push(value) - 1;
  }

  /** Joins the values into one text, of which they are cut when they are asked for. */
  close(): void {
    const values = this.#values!;
    this.#text = values.join("");
    const Ends = this.#text.length < 2 ** 16 ? Uint16Array : Uint32Array;
    this.#ends = new Ends(values.length);
    let end = 0;
    for (let i = 0; i < values.length; i++) {
      this.#ends[i] = end += values[i]!.length;
    }
    this.#values = undefined;
  }

  /** The value at position `cell` of {@linkcode cells}. */
  value(cell: number): string {
    const number = this.cells[cell]!;
    if (this.#values) return this.#values[number]!;
    const start = number === 0 ? 0 : this.#ends[number - 1]!;
    return this.#text.slice(start, this.#ends[number]);
  }
}

/** Makes rows that cannot be spread or listed: each value is cut out when it is read. */
export class LeanRows implements RowMaker {
  readonly #last: string[];
  readonly #numbers: Uint16Array;
  readonly #at: ReadonlyMap<Column, number>;
  #block: Block;
  #rows = 0;

  /** @param names The columns in the order of the file. */
  constructor(names: readonly Column[]) {
    this.#last = names.map(() => "");
    this.#numbers = new Uint16Array(names.length);
    this.#at = new Map(names.map((name, i) => [name, i]));
    this.#block = this.#open();
  }

  /** Sets a value. */
  set(i: number, value: string): void {
    this.#last[i] = value;
    this.#numbers[i] = this.#block.add(value);
  }

  /** Returns a view of what is set. */
  take(): CsvRow {
    const first = this.#rows * this.#last.length;
    this.#block.cells.set(this.#numbers, first);
    const row = new RowView(this.#block, first) as object as CsvRow;
    if (++this.#rows === BLOCK_ROWS) {
      this.#block.close();
      this.#block = this.#open();
    }
    return row;
  }

  #open(): Block {
    this.#rows = 0;
    const block = new Block(this.#at);
    this.#last.forEach((value, i) => this.#numbers[i] = block.add(value));
    return block;
  }
}

/** A row whose values are read through a getter for each column. */
class RowView {
  constructor(readonly block: Block, readonly first: number) {}
}

for (const column of COLUMNS) {
  Object.defineProperty(RowView.prototype, column, {
    get(this: RowView) {
      return this.block.value(this.first + this.block.at.get(column)!);
    },
  });
}

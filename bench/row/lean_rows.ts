/**
 * Stores rows in blocks, for comparisons of 100,000 rows: as objects of 60 strings they take
 * ten times the memory.
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

/** Columns that lean rows leave out: no comparison reads them, and they are half the text. */
const LEFT_OUT: readonly Column[] = [
  "min_us",
  "flops",
  "bytes",
  "tflops",
  "gbps",
  "floor_us",
  "max_rel_err",
  "mismatches",
  "search_configs",
  "search_ms",
  "time",
];
const KEPT = COLUMNS.filter((column) => !LEFT_OUT.includes(column));

/** The position of the value of each kept column. */
const CELLS: ReadonlyMap<string, number> = new Map(
  KEPT.map((column, i) => [column, i]),
);

/** Rows of a block: few enough that 16 bits number their values. */
const BLOCK_ROWS = 128;

/** Values of some rows: each row has the numbers of its values. */
class Block {
  readonly cells = new Uint16Array(BLOCK_ROWS * KEPT.length);
  #values: string[] | undefined = [];
  #text = "";
  #ends: Uint16Array | Uint32Array = new Uint16Array();

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

/**
 * Makes rows that cannot be spread or listed: each value is cut out when it is read. Figures
 * that no comparison reads are left out, and reading them throws.
 */
export class LeanRows implements RowMaker {
  readonly #last = KEPT.map(() => "");
  readonly #numbers = new Uint16Array(KEPT.length);
  /** The cell of each column of the file. */
  readonly #cells: readonly (number | undefined)[];
  #block: Block;
  #rows = 0;

  /** @param names The columns in the order of the file. */
  constructor(names: readonly Column[]) {
    this.#cells = names.map((name) => CELLS.get(name));
    this.#block = this.#open();
  }

  /** Sets a value. */
  set(i: number, value: string): void {
    const cell = this.#cells[i];
    if (cell === undefined) return;
    this.#last[cell] = value;
    this.#numbers[cell] = this.#block.add(value);
  }

  /** Returns a view of what is set. */
  take(): CsvRow {
    const first = this.#rows * KEPT.length;
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
    const block = new Block();
    this.#last.forEach((value, i) => this.#numbers[i] = block.add(value));
    return block;
  }
}

/** A row whose values are read through a getter for each column. */
class RowView {
  constructor(readonly block: Block, readonly first: number) {}
}

KEPT.forEach((column, cell) => {
  Object.defineProperty(RowView.prototype, column, {
    get(this: RowView) {
      return this.block.value(this.first + cell);
    },
  });
});
for (const column of LEFT_OUT) {
  Object.defineProperty(RowView.prototype, column, {
    get() {
      throw new TypeError(`Lean rows leave out column ${column}`);
    },
  });
}

/**
 * Reads CSVs of results. An error names the file, line and column in one line.
 *
 * @module
 */

import { show, UserError } from "../model/errors.ts";
import { readable, readUtf8IfThere, refuseBadUtf8 } from "../files/disk.ts";
import {
  ADDED_COLUMNS,
  COLUMNS,
  IDENTITY_COLUMNS,
  isPublished,
  KEY_COLUMNS,
  LATER_COLUMNS,
  SCHEMA,
} from "./row.ts";
import { unguarded } from "./csv.ts";
import { recordsOf } from "./csv_records.ts";
import {
  type Column,
  contradictionIn,
  type CsvRow,
  flawOf,
  lacksTime,
  SCHEMAS_READ,
} from "./csv_row.ts";
import { LeanRows, PlainRows, type RowMaker } from "./lean_rows.ts";

/** A row, and where it stands. */
export interface SourcedRow {
  readonly file: string;
  /** The line on which it starts, from 1; empty lines before it are not counted. */
  readonly line: number;
  readonly row: CsvRow;
  /** Key and place as one string: see {@linkcode identityOf}. */
  readonly identity?: string;
}

/** Options of reading a CSV. */
export interface ReadOptions {
  /** The end of each error, in place of the usual one. */
  readonly wayOut?: string;
  /**
   * Whether values are cut out when they are read: a tenth of the memory, but such rows
   * cannot be spread or listed, and figures that no comparison reads are left out.
   */
  readonly lean?: boolean;
  /** Rows whose identities are shared where the same ones come in the same order. */
  readonly like?: readonly SourcedRow[];
}

const FIX = "fix that line, or measure again with `bench`";
const AGAIN = "measure again with `bench`";
const KEY = `columns ${KEY_COLUMNS[0]} to ${KEY_COLUMNS.at(-1)}`;

/** Finds rows of the same case on the same device; each published run has its own cases. */
export class DuplicateFinder {
  /** The position of each case in the lists of places: rows may be more than memory holds. */
  readonly #seen = new Map<string, number>();
  readonly #files: string[] = [];
  readonly #lines: number[] = [];
  readonly #wayOut: string;

  /** @param wayOut What the error about rows of two files ends with. */
  constructor(
    wayOut = "name one of the two, or compare them with `diff`",
  ) {
    this.#wayOut = wayOut;
  }

  /** @throws {UserError} Where an earlier row has the case of `one`, with both places. */
  add(one: SourcedRow): void {
    const { file, line, row, identity } = one;
    const own = isPublished(row) ? `${identity}${row.run}` : `${identity}`;
    const at = this.#seen.get(own);
    if (at === undefined) {
      this.#seen.set(own, this.#files.push(file) - 1);
      this.#lines.push(line);
      return;
    }
    const [where, way] = this.#files[at] === file
      ? ["", FIX]
      : [` of ${this.#files[at]}`, this.#wayOut];
    throw new UserError(
      `Cannot read ${file}: line ${line}, ${KEY}: the same case as on line ${
        this.#lines[at]
      }${where}; ${way}`,
    );
  }
}

/** Makes rows of the records of one CSV. */
class RowReader {
  readonly rows: SourcedRow[] = [];
  readonly #file: string;
  readonly #options: ReadOptions;
  readonly #distinct: DuplicateFinder;
  #names: readonly Column[] | undefined;
  #identity: readonly number[] = [];
  #medianAt = -1;
  /** The position of each column. */
  #places: Readonly<Record<string, number>> = {};
  #maker: RowMaker | undefined;
  /** The values of the row before: most are the same, and were checked. */
  #last: (string | undefined)[] = [];
  /** Line feeds in them. */
  #breaks = 0;
  #line = 1;
  /** A flaw of the header, kept until the first record shows its schema. */
  #flaw: string | undefined;
  #schemaAt = -1;
  #schema = `${SCHEMA}`;

  constructor(file: string, options: ReadOptions, distinct: DuplicateFinder) {
    this.#file = file;
    this.#options = options;
    this.#distinct = distinct;
  }

  /** Takes the next record. @throws {UserError} */
  push(fields: readonly string[]): void {
    const line = this.#line++;
    if (this.#schemaAt < 0) this.#header(fields);
    else if (this.#names === undefined) this.#explain(fields, line);
    else this.#row(fields, this.#names, line);
  }

  /** @param torn Whether the text ends within a line. @throws {UserError} */
  end(torn: boolean): void {
    if (this.#schemaAt < 0) {
      throw this.#refuse("line 1 has no columns: the file is empty");
    }
    if (this.#names === undefined) this.#explain([], 1);
    // A cut in the last field cannot be seen, but that a time is missing can.
    if (!torn || this.rows.length === 0 || this.#last.at(-1) !== "") return;
    const { line } = this.rows.at(-1)!;
    throw this.#refuse(
      `line ${line}, column ${this.#names!.at(-1)}: the last line is cut off`,
      FIX,
    );
  }

  /** The error for quotes that do not fit. */
  syntax(message: string): UserError {
    const [, column = "1"] = /, column (\d+): /.exec(message) ?? [];
    return this.#refuse(
      `line ${this.#line}, field near character ${column}: a quote is misplaced or never closed`,
      FIX,
    );
  }

  #refuse(why: string, usual?: string): UserError {
    const way = this.#options.wayOut ?? usual;
    return new UserError(
      `Cannot read ${this.#file}: ${why}${way === undefined ? "" : `; ${way}`}`,
    );
  }

  #header(fields: readonly string[]): void {
    this.#schemaAt = fields.indexOf("schema");
    if (this.#schemaAt < 0) {
      throw this.#refuse(
        "line 1, column schema is missing: it is not a CSV of results",
        "`import` reads those of others",
      );
    }
    // The constants rather than the text of the file: properties are found by them.
    const names = fields.map((name) => COLUMNS.find((c) => c === name));
    const twice = fields.find((name, i) => fields.indexOf(name) < i);
    const unknown = fields.find((_, i) => names[i] === undefined);
    const later: readonly Column[] = LATER_COLUMNS;
    const absent = COLUMNS.filter((name) =>
      !fields.includes(name) && !later.includes(name)
    );
    const isOld = absent.join() === ADDED_COLUMNS.join();
    if (twice !== undefined) {
      this.#flaw = `column ${show(twice)} is there twice`;
    } else if (unknown !== undefined) {
      this.#flaw = `column ${show(unknown)} is unknown`;
    } else if (absent.length > 0 && !isOld) {
      this.#flaw = `column ${absent[0]} is missing`;
    } else {
      if (isOld) this.#schema = "1";
      this.#names = names as Column[];
      this.#last = names.map(() => undefined);
      this.#identity = IDENTITY_COLUMNS
        .map((column) => names.indexOf(column));
      this.#medianAt = names.indexOf("median_us");
      this.#places = Object.fromEntries(fields.map((name, i) => [name, i]));
      const Maker = this.#options.lean ? LeanRows : PlainRows;
      this.#maker = new Maker(this.#names);
    }
  }

  /** Columns that changed with the schema are better explained by the schema. */
  #explain(fields: readonly string[], line: number): never {
    const schema = fields[this.#schemaAt];
    throw this.#refuse(
      schema === undefined || flawOf("schema", schema) === undefined
        ? `line 1, ${this.#flaw}`
        : `line ${line}, column schema is ${
          show(schema)
        }, and this program reads ${SCHEMAS_READ.join(" and ")}`,
      AGAIN,
    );
  }

  #row(fields: readonly string[], names: readonly Column[], line: number) {
    const fail = (why: string) => this.#refuse(`line ${line}, ${why}`, FIX);
    if (fields.length !== names.length) throw fail(miscount(fields, names));
    const last = this.#last;
    let breaks = this.#breaks;
    for (let i = 0; i < names.length; i++) {
      const value = unguarded(fields[i]!);
      const before = last[i];
      if (value === before) continue;
      const isSchema = i === this.#schemaAt;
      const flaw = flawOf(names[i]!, value) ??
        (isSchema && value !== this.#schema
          ? `the columns are those of schema ${this.#schema}`
          : undefined);
      if (flaw !== undefined) {
        throw fail(`column ${names[i]} is ${show(value)}: ${flaw}`);
      }
      breaks += breaksIn(value) - breaksIn(before ?? "");
      last[i] = value;
      this.#maker!.set(i, isSchema ? `${SCHEMA}` : value);
    }
    this.#breaks = breaks;
    this.#line += breaks;
    const contradiction = contradictionIn((column) =>
      last[this.#places[column]!]!
    );
    if (contradiction !== undefined) throw fail(contradiction);
    const row = this.#maker!.take();
    if (last[this.#medianAt] === "" && lacksTime(row)) {
      throw fail('column median_us is "": a row with status ok must have one');
    }
    const own = this.#identity.map((at) => last[at]).join("\0");
    const other = this.#options.like?.[this.rows.length]?.identity;
    const identity = own === other ? other : own;
    const one = { file: this.#file, line, row, identity };
    this.#distinct.add(one);
    this.rows.push(one);
  }
}

function breaksIn(value: string): number {
  return value.includes("\n") ? value.split("\n").length - 1 : 0;
}

/** Describes a record with too many or too few fields. */
function miscount(fields: readonly string[], names: readonly Column[]): string {
  const state = `${fields.length} fields, not ${names.length}`;
  if (fields.length < names.length) {
    return `column ${
      names[fields.length]
    } is missing: the line is cut off (${state})`;
  }
  const moved = names.find((name, i) => flawOf(name, fields[i]!));
  return `column ${
    moved ?? names.at(-1)
  }: a comma before it is not in quotes (${state})`;
}

const LINE_FEED = 10;
const PIECE_BYTES = 1 << 16;

/** Reads the file at `path` in pieces, into the same memory. @throws {UserError} Where it cannot. */
function* pieces(path: string): Generator<Uint8Array> {
  using file = readable(path, () => Deno.openSync(path));
  const bytes = new Uint8Array(PIECE_BYTES);
  const read = () => readable(path, () => file.readSync(bytes));
  for (let count = read(); count !== null; count = read()) {
    yield bytes.subarray(0, count);
  }
}

/**
 * Reads the rows of the CSV at `path` in pieces.
 *
 * @param distinct The rows that were read before: none may have the case of another.
 * @throws {UserError} In one line with file, line and column, for what is not a CSV of
 * this schema, a value that cannot be, and a case that is there twice.
 */
export function streamRows(
  path: string,
  options: ReadOptions = {},
  distinct = new DuplicateFinder(),
): readonly SourcedRow[] {
  return rowsOf(pieces(path), new RowReader(path, options, distinct), () => {
    refuseBadUtf8(path, options.wayOut ?? "name a CSV of results");
  });
}

/**
 * Reads the rows of the text of a whole CSV.
 *
 * @param file Named in errors.
 * @throws {UserError} As {@linkcode streamRows} does.
 */
export function parseRows(
  text: string,
  file: string,
  options: ReadOptions = {},
): readonly SourcedRow[] {
  const reader = new RowReader(file, options, new DuplicateFinder());
  return rowsOf([new TextEncoder().encode(text)], reader);
}

/** @param onControl Called once where the text has control characters. */
function rowsOf(
  pieces: Iterable<Uint8Array>,
  reader: RowReader,
  onControl?: () => void,
): readonly SourcedRow[] {
  let end: number | undefined;
  function* watched() {
    for (const piece of pieces) {
      end = piece.at(-1) ?? end;
      yield piece;
    }
  }
  try {
    for (const fields of recordsOf(watched(), onControl)) reader.push(fields);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw reader.syntax(cause.message);
    throw cause;
  }
  reader.end(end !== LINE_FEED);
  return reader.rows;
}

const OUT_OF_THE_WAY = "fix it, move it away or pass --out with another folder";

/**
 * Reads the rows of a CSV that others are to be added to.
 *
 * @param file Named in errors.
 * @param wayOut What to do about one that cannot be read, at the end of the error.
 * @throws {UserError} As {@linkcode parseRows} does: what is kept will be read again.
 */
export function readCsv(
  text: string,
  file: string,
  wayOut: string = OUT_OF_THE_WAY,
): CsvRow[] {
  return parseRows(text, file, { wayOut }).map(({ row }) => row);
}

/** Reads the same of the CSV at `path`; nothing where there is none. @throws {UserError} */
export function readCsvIfThere(
  path: string,
  wayOut: string = OUT_OF_THE_WAY,
): CsvRow[] | undefined {
  const text = readUtf8IfThere(path, wayOut);
  return text === undefined ? undefined : readCsv(text, path, wayOut);
}

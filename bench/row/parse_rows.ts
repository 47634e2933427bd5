/**
 * The text of a CSV of results as rows, with every flaw of it named.
 *
 * @module
 */

import type { Column, CsvRow } from "./csv_row.ts";
import { FORM, RecordError, Records } from "./csv_records.ts";
import { UserError } from "../model/errors.ts";
import { identityOf } from "./case_key.ts";
import { COLUMNS, KEY_COLUMNS, SCHEMA } from "./row.ts";
import { flawOf, freeForm, lackOf } from "./row_rules.ts";
import { RowTable } from "./row_spans.ts";
import { show } from "../model/show_value.ts";

/** A row, and where it stands. */
export interface SourcedRow {
  readonly file: string;
  /** The line on which it starts, from 1. */
  readonly line: number;
  readonly row: CsvRow;
  /** Case and place as one string. */
  readonly identity?: string;
}

const MEND = "mend that line, or measure again with `bench`";
const AGAIN = "measure again with `bench`";

/** The error that says `why`, and the way out: that of the reader, or the usual one. */
type Refuse = (why: string, usual?: string) => UserError;

/**
 * The rows of a whole CSV, their values still in its text.
 *
 * @param file Named in errors.
 * @param options `wayOut`: what errors end with, where the usual is of no use.
 * @throws {UserError} In one line with file, line and column, for what is not a CSV of
 * this schema, a value that cannot be, and a case that stands there twice.
 */
export function parseRows(
  text: string,
  file: string,
  { wayOut }: { readonly wayOut?: string } = {},
): readonly SourcedRow[] {
  const records = new Records(text);
  const refuse: Refuse = (why, usual) => {
    const way = wayOut ?? usual;
    return new UserError(
      `Cannot read ${file}: ${why}${way === undefined ? "" : `; ${way}`}`,
    );
  };
  try {
    return rowsOf(records, file, refuse);
  } catch (cause) {
    if (!(cause instanceof RecordError)) throw cause;
    throw refuse(`line ${cause.line}, ${cause.message}`, MEND);
  }
}

function rowsOf(records: Records, file: string, refuse: Refuse): SourcedRow[] {
  const names = readNames(records, refuse);
  const table = new RowTable(records.text, names);
  const free = names.map(freeForm);
  const rows: SourcedRow[] = [];
  const lines = new Map<string, number>();
  while (records.next()) {
    const { line, count, forms } = records;
    const fail = (why: string) => refuse(`line ${line}, ${why}`, MEND);
    if (count !== names.length) throw fail(miscount(records, names));
    for (let i = 0; i < count; i++) {
      if (forms[i]! <= free[i]!) continue;
      const flaw = flawOf(names[i]!, records.field(i));
      if (flaw === undefined) continue;
      throw fail(`column ${names[i]} is ${show(records.field(i))}: ${flaw}`);
    }
    if (records.ended && records.torn && forms[count - 1] === FORM.empty) {
      throw fail(`column ${names.at(-1)}: the last line is cut off`);
    }
    const row = table.add(records);
    const lack = lackOf(row);
    if (lack) throw fail(`column ${lack} is empty`);
    const identity = identityOf(row);
    const other = lines.get(identity);
    if (other !== undefined) {
      throw fail(
        `columns ${KEY_COLUMNS[0]} to ${
          KEY_COLUMNS.at(-1)
        }: the same case as on line ${other}`,
      );
    }
    lines.set(identity, line);
    rows.push({ file, line, row, identity });
  }
  return rows;
}

/** The columns of the header, once it is sure that the rows are of this schema. */
function readNames(records: Records, refuse: Refuse): readonly Column[] {
  if (!records.next()) {
    throw refuse("line 1 has no columns: the file is empty");
  }
  const names = fieldsOf(records);
  const at = names.indexOf("schema");
  if (at < 0) {
    throw refuse(
      "line 1, column schema is missing: it is not a CSV of results",
      "`import` reads those of others",
    );
  }
  const known: readonly string[] = COLUMNS;
  const twice = names.find((name, i) => names.indexOf(name) < i);
  const unknown = names.find((name) => !known.includes(name));
  const missing = known.find((name) => !names.includes(name));
  const flaw = twice !== undefined
    ? `column ${show(twice)} is there twice`
    : unknown !== undefined
    ? `column ${show(unknown)} is unknown`
    : missing !== undefined
    ? `column ${missing} is missing`
    : undefined;
  if (flaw === undefined) return names as Column[];
  // Columns that changed with the schema are better explained by the schema.
  const other = records.next() && records.count === names.length
    ? flawOf("schema", records.field(at))
    : undefined;
  throw refuse(
    other === undefined
      ? `line 1, ${flaw}`
      : `line ${records.line}, column schema is ${
        show(records.field(at))
      }, and this program reads ${SCHEMA}`,
    AGAIN,
  );
}

function fieldsOf(records: Records): string[] {
  return Array.from({ length: records.count }, (_, i) => records.field(i));
}

/** What is said of a record with too many fields or too few. */
function miscount(records: Records, names: readonly Column[]): string {
  const { count, ended, torn } = records;
  const state = `${count} fields, not ${names.length}`;
  if (count < names.length) {
    const column = names[count]!;
    return ended && torn
      ? `column ${column}: the last line is cut off (${state})`
      : `column ${column} is missing (${state})`;
  }
  const moved = names.find((name, i) => flawOf(name, records.field(i)));
  return `column ${
    moved ?? names.at(-1)
  }: a comma before it is not in quotes (${state})`;
}

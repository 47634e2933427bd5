/**
 * RFC 4180 text: records of named columns, one of which is the schema's version.
 *
 * @module
 */

// @ts-types="./std/csv_parse.d.ts"
import { parse } from "@std/csv/parse";
// @ts-types="./std/csv_stringify.d.ts"
import { stringify } from "@std/csv/stringify";
import { UserError } from "./errors.ts";
import { SCHEMA } from "./row.ts";

/**
 * `records` as text with LF ends: a line each, or several where a field has line feeds.
 */
export function writeTable(records: readonly (readonly string[])[]): string {
  const text = stringify(records.map((fields) => fields.map(formatField)));
  // The only line ends with CR are those that were just put between records.
  return text.replaceAll("\r\n", "\n");
}

/**
 * A value as a field. Numbers are the shortest text that reads back the same. The parser
 * gives every line end in a field as LF, so it is written as one.
 */
export function formatField(
  value: string | number | boolean | undefined,
): string {
  return value === undefined ? "" : `${value}`.replaceAll(/\r\n?/g, "\n");
}

/** Which columns a table must have, and what its owner can do where it has others. */
export interface TableShape<C extends string> {
  readonly columns: readonly C[];
  readonly wayOut: string;
}

/**
 * The records of a table with exactly the columns of `shape`, among them `schema`, in any
 * order.
 *
 * @param file Named in errors.
 * @throws {UserError} For text that is no such table.
 */
export function readTable<const C extends string>(
  text: string,
  file: string,
  { columns, wayOut }: TableShape<C>,
): Readonly<Record<C, string>>[] {
  const refuse = (why: string): never => {
    throw new UserError(`Cannot read ${file}: ${why}; ${wayOut}`);
  };
  let records: string[][];
  try {
    records = parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return refuse(`it is not a CSV (${cause.message})`);
  }
  const names = records.shift() ?? [];
  for (const [i, { length }] of records.entries()) {
    if (length === names.length) continue;
    refuse(`record ${i + 1} has ${length} fields, not ${names.length}`);
  }
  const at = names.indexOf("schema");
  const found = new Set(records.map((fields) => fields[at] ?? "none"));
  if (at < 0) found.add("none");
  found.delete(`${SCHEMA}`);
  if (found.size > 0) {
    const versions = [...found].join(", ");
    refuse(`its schema is ${versions}, and this program's is ${SCHEMA}`);
  }
  const missing = columns.filter((column) => !names.includes(column));
  const unknown = names.filter((name, i) =>
    names.indexOf(name) < i || !(columns as readonly string[]).includes(name)
  );
  if (missing.length + unknown.length > 0) {
    const list = (some: readonly string[]) => some.join(", ") || "none";
    refuse(
      `its columns are not those of schema ${SCHEMA} (missing: ${
        list(missing)
      }; unknown or twice: ${list(unknown)})`,
    );
  }
  return records.map((fields) => {
    const record = names.map((name, i) => [name, fields[i]!]);
    return Object.fromEntries(record) as Record<C, string>;
  });
}

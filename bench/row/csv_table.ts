/**
 * RFC 4180 text: records of named columns, one of which is the schema's version.
 *
 * @module
 */

import { stringify } from "@std/csv";
import { RecordError, Records } from "./csv_records.ts";
import { UserError } from "../model/errors.ts";
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

/** A record of a table, and the line on which it starts, from 1. */
export interface TableRecord<C extends string> {
  readonly line: number;
  readonly fields: Readonly<Record<C, string>>;
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
): readonly TableRecord<C>[] {
  const refuse = (why: string): never => {
    throw new UserError(`Cannot read ${file}: ${why}; ${wayOut}`);
  };
  const lines = linesOf(text, refuse);
  const names: readonly string[] = lines.shift()?.fields ?? [];
  for (const { line, fields: { length } } of lines) {
    if (length === names.length) continue;
    refuse(`line ${line} has ${length} fields, not ${names.length}`);
  }
  const at = names.indexOf("schema");
  const found = new Set(lines.map(({ fields }) => fields[at] ?? "none"));
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
  return lines.map(({ line, fields }) => {
    const record = names.map((name, i) => [name, fields[i]!]);
    return {
      line,
      fields: Object.fromEntries(record) as Record<C, string>,
    };
  });
}

/** Every record of `text` with its line. */
function linesOf(
  text: string,
  refuse: (why: string) => never,
): { line: number; fields: string[] }[] {
  const records = new Records(text);
  const lines: { line: number; fields: string[] }[] = [];
  try {
    while (records.next()) {
      const { line, count } = records;
      const fields = Array.from({ length: count }, (_, i) => records.field(i));
      lines.push({ line, fields });
    }
  } catch (cause) {
    if (!(cause instanceof RecordError)) throw cause;
    refuse(`line ${cause.line}, ${cause.message}`);
  }
  return lines;
}

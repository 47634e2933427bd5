/**
 * Writes rows as CSV, and converts them to text by column and back.
 *
 * @module
 */

import { stringify } from "@std/csv";
import { UserError } from "../model/errors.ts";
import {
  COLUMNS,
  FIGURE_COLUMNS,
  KEY_COLUMNS,
  PLACE_COLUMNS,
  PROVENANCE_COLUMNS,
  SCHEMA,
} from "./row.ts";
import { type Column, type CsvRow, type KeptRow, STATUSES } from "./csv_row.ts";

/**
 * Formats `records` as RFC 4180 text with LF ends: a line each, or several where a field
 * has line feeds.
 */
export function writeTable(records: readonly (readonly string[])[]): string {
  const text = stringify(records.map((fields) => fields.map(formatField)));
  // The only line ends with CR are those that were just put between records.
  return text.replaceAll("\r\n", "\n");
}

/**
 * Formats a value as a field. Numbers are the shortest text that reads back the same. The
 * parser gives every line end in a field as LF, so it is written as one.
 */
function formatField(value: string | number | boolean | undefined): string {
  return value === undefined ? "" : `${value}`.replaceAll(/\r\n?/g, "\n");
}

/** Returns the fields of `row`, in the order of {@linkcode COLUMNS}. */
export function formatRow(row: KeptRow): string[] {
  const values: Partial<Record<Column, string | number | boolean>> = {
    ...row.key,
    ...row.place,
    ...row.provenance,
    ...("figures" in row ? row.figures : {}),
    ...row.accuracy,
    config: row.config,
    config_by: row.config_by,
    status: row.status,
    note: row.note,
    schema: SCHEMA,
  };
  return COLUMNS.map((column) => formatField(values[column]));
}

/** Converts `row` to what stands in a CSV. */
export function recordOf(row: KeptRow): CsvRow {
  const fields = formatRow(row);
  return Object.fromEntries(COLUMNS.map((c, i) => [c, fields[i]!])) as CsvRow;
}

/** Formats a whole CSV: header, then `rows`. */
export function writeCsv(rows: Iterable<KeptRow | CsvRow>): string {
  const records = Array.from(
    rows,
    (row) => isKept(row) ? formatRow(row) : COLUMNS.map((c) => row[c]),
  );
  return writeTable([[...COLUMNS], ...records]);
}

/** Returns the number in `column`, or nothing where it is empty. @throws {UserError} */
export function numberOf(row: CsvRow, column: Column): number | undefined {
  const text = row[column];
  if (text === "") return undefined;
  const value = Number(text);
  // "NaN" is a value: the greatest error of an output that has one.
  if (Number.isNaN(value) && text !== "NaN") {
    throw new UserError(`Column ${column} is ${text}, which is not a number`);
  }
  return value;
}

const PROVENANCE_NUMBERS: ReadonlySet<string> = new Set([
  "flush_bytes",
  "warmup_ms",
  "rep_ms",
  "seed",
  "search_configs",
  "search_ms",
  "sm_mhz",
  "mem_mhz",
  "power_w",
  "temp_c",
  "schema",
]);

/**
 * Converts what {@linkcode recordOf} made back. An empty provenance is read as none.
 *
 * @throws {UserError} For a status that there is not, or a figure that is no number.
 */
export function rowOf(record: CsvRow): KeptRow {
  if (!(STATUSES as readonly string[]).includes(record.status)) {
    throw new UserError(
      `Column status is ${record.status}: it must be one of ${
        STATUSES.join(", ")
      }`,
    );
  }
  const base = {
    key: pick(KEY_COLUMNS, (c) => record[c]),
    place: pick(PLACE_COLUMNS, (c) => record[c]),
    config: record.config,
    config_by: record.config_by as KeptRow["config_by"],
    note: record.note,
    provenance: pick(
      PROVENANCE_COLUMNS,
      (c) =>
        PROVENANCE_NUMBERS.has(c)
          ? numberOf(record, c)
          : record[c] || undefined,
    ),
  };
  const needed = (column: Column): number => {
    const value = numberOf(record, column);
    if (value !== undefined) return value;
    throw new UserError(
      `Column ${column} of a row with status ${record.status} is empty`,
    );
  };
  const accuracy = record.max_abs_err === "" ? undefined : {
    max_abs_err: needed("max_abs_err"),
    max_rel_err: needed("max_rel_err"),
    rel_l2_err: needed("rel_l2_err"),
    mismatches: needed("mismatches"),
    ...(record.deterministic === ""
      ? {}
      : { deterministic: record.deterministic === "true" }),
  };
  if (record.status !== "ok") {
    const status = record.status as Exclude<KeptRow["status"], "ok">;
    return { ...base, status, ...(accuracy && { accuracy }) };
  }
  const optional: readonly string[] = ["between_run_us", "sol_us"];
  const figures = pick(
    FIGURE_COLUMNS,
    (c) => optional.includes(c) ? numberOf(record, c) : needed(c),
  ) as Extract<KeptRow, { status: "ok" }>["figures"];
  needed("max_abs_err");
  return { ...base, status: "ok", figures, accuracy: accuracy! };
}

function isKept(row: KeptRow | CsvRow): row is KeptRow {
  return "key" in row;
}

/** The values that there are, by column. */
function pick<C extends string, V>(
  columns: readonly C[],
  value: (column: C) => V,
): Record<C, Exclude<V, undefined>> {
  const entries = columns.map((c) => [c, value(c)] as const);
  return Object.fromEntries(
    entries.filter(([, v]) => v !== undefined),
  ) as Record<C, Exclude<V, undefined>>;
}

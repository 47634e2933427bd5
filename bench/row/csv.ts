/**
 * Rows as RFC 4180 text and back.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import { parseRows } from "./parse_rows.ts";
import {
  COLUMNS,
  FIGURE_COLUMNS,
  KEY_COLUMNS,
  PLACE_COLUMNS,
  PROVENANCE_COLUMNS,
  SCHEMA,
} from "./row.ts";
import { STATUSES } from "./row_rules.ts";
import { ownValues } from "./row_spans.ts";
import { formatField, writeTable } from "./csv_table.ts";
import { readUtf8IfThere } from "../files/utf8_file.ts";
import type { Column, CsvRow, KeptRow } from "./csv_row.ts";

/** The first record of a CSV. */
export function header(): string[] {
  return [...COLUMNS];
}

/** The fields of `row`, in the order of {@linkcode COLUMNS}. */
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

/** `row` as a CSV has it. */
export function recordOf(row: KeptRow): CsvRow {
  const fields = formatRow(row);
  return Object.fromEntries(COLUMNS.map((c, i) => [c, fields[i]!])) as CsvRow;
}

/** A whole CSV: header, then `rows`. */
export function writeCsv(rows: Iterable<KeptRow | CsvRow>): string {
  const records = Array.from(
    rows,
    (row) => isKept(row) ? formatRow(row) : COLUMNS.map((c) => row[c]),
  );
  return writeTable([header(), ...records]);
}

const OUT_OF_THE_WAY =
  "mend it, move it away or pass --out with another folder";

/**
 * The rows of a CSV that others are to be added to.
 *
 * @param file Named in errors.
 * @throws {UserError} As {@linkcode parseRows} does: what is kept will be read again.
 */
export function readCsv(text: string, file: string): CsvRow[] {
  return parseRows(text, file, { wayOut: OUT_OF_THE_WAY })
    .map(({ row }) => ownValues(row));
}

/** The same of the CSV at `path`; nothing where there is none. @throws {UserError} */
export function readCsvIfThere(path: string): CsvRow[] | undefined {
  const text = readUtf8IfThere(path, OUT_OF_THE_WAY);
  return text === undefined ? undefined : readCsv(text, path);
}

/** The number in `column`, or nothing where it is empty. */
export function numberOf(row: CsvRow, column: Column): number | undefined {
  const text = row[column];
  if (text === "") return undefined;
  // What JSON made of NaN and Infinity in the rows of earlier versions.
  if (text === "null") return NaN;
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
 * The row behind {@linkcode recordOf}. An empty text in a provenance is read as none.
 *
 * @throws {UserError} For a status that there is not, or a figure that is no number.
 */
export function rowOf(record: CsvRow): KeptRow {
  if (!STATUSES.includes(record.status)) {
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

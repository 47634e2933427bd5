/**
 * Defines the flat row: the columns of a CSV with numbers as numbers, as `bench --json` prints
 * rows and as programs get them.
 *
 * @module
 */

import {
  boolean,
  exactOptional,
  type GenericSchema,
  literal,
  number,
  object,
  parse,
  picklist,
  string,
  variant,
} from "valibot";
import {
  type ACCURACY_COLUMNS,
  AMOUNT_COLUMNS,
  COLUMNS,
  FIGURE_COLUMNS,
} from "./columns.ts";
import type { CsvRow } from "./csv_row.ts";
import type { Failure } from "../model/errors.ts";
import { anyNumber, each, FAILURES } from "./row_schema.ts";

/** Columns that are numbers and may be missing. */
export type FigureColumn = Exclude<
  | typeof FIGURE_COLUMNS[number]
  | typeof ACCURACY_COLUMNS[number]
  | typeof AMOUNT_COLUMNS[number],
  "median_us" | "deterministic"
>;

/** Columns of text. */
export type TextColumn = Exclude<
  typeof COLUMNS[number],
  FigureColumn | "median_us" | "deterministic" | "status" | "m" | "n" | "k"
>;

/** The fields of every row: text is empty where there is none. */
export interface RowFields
  extends
    Readonly<Record<TextColumn, string>>,
    Readonly<Partial<Record<FigureColumn, number>>> {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Whether two runs gave the same bits. */
  readonly deterministic?: boolean;
}

/** A row with a time. */
export interface TimedFlatRow extends RowFields {
  readonly status: "ok";
  /** Microseconds; NaN for a published row that has a mean only. */
  readonly median_us: number;
}

/** A row without a time: checked only, or failed. */
export interface UntimedFlatRow extends RowFields {
  readonly status: "checked" | Failure;
}

/**
 * A row with the columns of a CSV as fields, as `docs/guide/file-format.md` describes them: numbers
 * as numbers, and a number that was not measured as a missing field.
 */
export type FlatRow = TimedFlatRow | UntimedFlatRow;

const SIZES = ["m", "n", "k"] as const;
const FIGURES = [
  ...FIGURE_COLUMNS.filter((column) => column !== "median_us"),
  ...[
    "max_abs_err",
    "max_rel_err",
    "rel_l2_err",
    "mismatches",
    "bits",
  ] as const,
  ...AMOUNT_COLUMNS,
];
const OTHERS = new Set<string>(
  [...FIGURES, ...SIZES, "median_us", "deterministic", "status"],
);
const TEXTS = COLUMNS.filter((column): column is TextColumn =>
  !OTHERS.has(column)
);

const fields = {
  ...each(TEXTS, string()),
  ...each(SIZES, number()),
  ...each(FIGURES, exactOptional(anyNumber)),
  deterministic: exactOptional(boolean()),
};

/** The schema of a flat row. */
export const flatRowSchema = variant("status", [
  object({ ...fields, status: literal("ok"), median_us: anyNumber }),
  object({ ...fields, status: picklist([...FAILURES, "checked"]) }),
]) satisfies GenericSchema<unknown, FlatRow>;

/** Converts a row of a CSV. */
export function flatRow(row: CsvRow): FlatRow {
  const cells: Record<string, string | number | boolean> = {};
  for (const column of COLUMNS) {
    const cell: string = row[column];
    if (column === "deterministic") {
      if (cell !== "") cells[column] = cell === "true";
    } else if (column === "status" || !OTHERS.has(column)) {
      cells[column] = cell;
    } else if (cell !== "") cells[column] = Number(cell);
    else if (column === "median_us" && row.status === "ok") cells[column] = NaN;
  }
  return parse(flatRowSchema, cells);
}

/** Converts a row back to the text of a CSV. */
export function csvRow(row: FlatRow): CsvRow {
  const cells: Readonly<Record<string, unknown>> =
    row.status === "ok" && Number.isNaN(row.median_us)
      ? { ...row, median_us: "" }
      : { ...row };
  return Object.fromEntries(
    COLUMNS.map((column) => [column, `${cells[column] ?? ""}`]),
  ) as CsvRow;
}

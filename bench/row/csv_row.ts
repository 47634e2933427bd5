/**
 * A row as it stands in a CSV.
 *
 * @module
 */

import type { CheckedRow, COLUMNS, Row } from "./row.ts";

/** The name of a column. */
export type Column = typeof COLUMNS[number];

/** A row as it stands in a CSV: text by column, empty where there is no value. */
export type CsvRow = Readonly<Record<Column, string>>;

/** A row that may be kept: a case that was only checked is in no CSV. */
export type KeptRow = Exclude<Row, CheckedRow>;

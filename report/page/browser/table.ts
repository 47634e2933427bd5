/**
 * Packed rows, read by column and row.
 *
 * @module
 */

import type { EncodedColumn, EncodedRun, EncodedSeries } from "./page_data.ts";

/** The rows of a run. */
export class Table {
  readonly label: string;
  readonly rows: number;
  readonly #run: EncodedRun;

  /** @param run Is read when it is asked for, never copied. */
  constructor(run: EncodedRun) {
    this.#run = run;
    this.label = run.label;
    this.rows = run.rows;
  }

  /** The field as the CSV has it, empty where there is none. */
  text(column: string, row: number): string {
    return fieldOf(this.#run.columns[column], row);
  }

  /** The number in the field; nothing where it is empty or none. */
  number(column: string, row: number): number | undefined {
    const text = this.text(column, row);
    const value = text === "" ? NaN : Number(text);
    return Number.isNaN(value) ? undefined : value;
  }

  /** The different values of a column, in the order in which they come. */
  values(column: string): string[] {
    const packed = this.#run.columns[column];
    if (packed === undefined) return [];
    if ("one" in packed) return [packed.one];
    const fields = "words" in packed ? packed.words : packed.cells;
    return [...new Set(fields.map((field) => `${field}`))];
  }

  /** Quantiles in microseconds, from least to greatest. */
  quantiles(row: number): number[] | undefined {
    return seriesOf(this.#run.quantiles?.[row]);
  }

  /** Samples in microseconds, in the order in which they were taken. */
  samples(row: number): number[] | undefined {
    return seriesOf(this.#run.samples?.[row]);
  }
}

/** The field of `row` in `packed`. */
export function fieldOf(
  packed: EncodedColumn | undefined,
  row: number,
): string {
  if (packed === undefined) return "";
  if ("one" in packed) return packed.one;
  if ("words" in packed) return packed.words[packed.at[row] ?? -1] ?? "";
  return `${packed.cells[row] ?? ""}`;
}

function seriesOf(packed: EncodedSeries | undefined): number[] | undefined {
  if (packed === undefined || packed === 0) return undefined;
  let at = 0;
  return packed.map((step) => (at += step) / 1000);
}

/**
 * Rows by column, as the page takes them: exact, and small where values repeat.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { COLUMNS } from "../../bench/row/row.ts";
import { quantile } from "../../bench/measure/stats.ts";
import type {
  EncodedColumn,
  EncodedRun,
  EncodedSeries,
} from "./browser/page_data.ts";

/** The rows of a run, and what was kept of their samples. */
export interface RunInput {
  /** What the run is called beside the other. */
  readonly label: string;
  readonly rows: readonly CsvRow[];
  /** Nanoseconds in the order they were taken, of the row at an index; none where not kept. */
  readonly samples: (row: number) => readonly number[] | undefined;
}

/** How many quantiles stand for the samples of a row. */
export const QUANTILES = 16;

/** A value in this share of the rows or more is not worth a dictionary. */
const DISTINCT = 0.4;

/** `run` by column. @param all Whether every sample goes along, and not only quantiles. */
export function encodeRun(
  { label, rows, samples }: RunInput,
  { all }: { readonly all: boolean },
): EncodedRun {
  const columns: Record<string, EncodedColumn> = {};
  for (const column of COLUMNS) {
    const packed = encodeColumn(rows.map((row) => row[column]));
    if (!("one" in packed) || packed.one !== "") columns[column] = packed;
  }
  const series = rows.map((_, row): EncodedSeries => {
    const own = samples(row);
    if (own === undefined || own.length === 0) return 0;
    return packSeries(all ? own : quantilesOf(own));
  });
  const kept = series.some((own) => own !== 0);
  return {
    label,
    rows: rows.length,
    columns,
    ...(kept && { [all ? "samples" : "quantiles"]: series }),
  };
}

/** `fields` in the smallest of the three forms. */
export function encodeColumn(fields: readonly string[]): EncodedColumn {
  const words = [...new Set(fields)];
  if (words.length <= 1) return { one: words[0] ?? "" };
  if (words.length <= DISTINCT * fields.length) {
    const places = new Map(words.map((word, i) => [word, i]));
    return { words, at: fields.map((field) => places.get(field)!) };
  }
  return { cells: fields.map(cellOf) };
}

/** A number where its shortest text is the field's, so that nothing is lost. */
function cellOf(field: string): string | number {
  const value = Number(field);
  return Number.isFinite(value) && `${value}` === field ? value : field;
}

/** The least, the greatest and those evenly between, {@linkcode QUANTILES} in all. */
function quantilesOf(samples: readonly number[]): number[] {
  const sorted = samples.toSorted((a, b) => a - b);
  return Array.from(
    { length: QUANTILES },
    (_, i) => quantile(sorted, i / (QUANTILES - 1)),
  );
}

/** Whole nanoseconds, as the first and the steps from one to the next. */
function packSeries(values: readonly number[]): number[] {
  let before = 0;
  return values.map((value) => {
    const whole = Math.round(value);
    const step = whole - before;
    before = whole;
    return step;
  });
}

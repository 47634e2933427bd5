/**
 * What is said of a table whose rows were not measured together.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";

/** Runs beyond these are counted together. */
const MOST_RUNS = 3;

/** Of each run in `rows` but the one with the most: whose rows are its, and of which day. */
export function runNotes(rows: readonly CsvRow[]): string[] {
  const runs = [...Map.groupBy(rows, ({ run }) => run).values()]
    .toSorted((a, b) => b.length - a.length).slice(1);
  const notes = runs.slice(0, MOST_RUNS).map((own) => {
    const kernels = new Set(own.map(({ kernel }) => kernel));
    const day = own[0]!.time.slice(0, 10);
    return `${
      [...kernels].join(", ")
    }: ${own.length} of ${rows.length} rows are from a different run${
      day === "" ? "" : `, of ${day}`
    }`;
  });
  const more = runs.length - notes.length;
  return more > 0 ? [...notes, `Rows are of ${more} more runs`] : notes;
}

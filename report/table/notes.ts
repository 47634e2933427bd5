/**
 * Writes the notes below tables: failures, other runs, means that do not compare.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { Pivot } from "../model/pivot.ts";

const MOST_NOTES = 12;
/** Runs beyond these are counted together. */
const MOST_RUNS = 3;

/** A row's note, and the row's kernel, status and point. */
export interface Note {
  readonly kernel: string;
  readonly status: string;
  readonly note: string;
  readonly label: string;
}

/**
 * Formats `notes`, each different one once.
 *
 * @param all The place of all notes, named where there are too many to list.
 */
export function formatNotes(
  notes: readonly Note[],
  all = "all in the CSV",
): string[] {
  const different = Map.groupBy(
    notes,
    ({ kernel, status, note }) => JSON.stringify([kernel, status, note]),
  );
  const lines = [...different.values()].map((same) => {
    const { kernel, status, note, label } = same[0]!;
    const at = same.length > 1 ? `${same.length} shapes` : label;
    const how = status === "ok" ? "" : ` ${status}`;
    const why = note.split("\n")[0];
    return `${kernel}${how} at ${at}${why ? `: ${why}` : ""}`;
  });
  const left = lines.length - MOST_NOTES;
  return left > 0
    ? [...lines.slice(0, MOST_NOTES), `and ${left} more notes, ${all}`]
    : lines;
}

/** Returns the rows that failed, and those measured here that have a note. */
export function notedRows({ contenders, shapes }: Pivot): Note[] {
  return contenders.flatMap(({ name, published }) =>
    shapes.flatMap(({ rows, label }): Note[] => {
      const row = rows.get(name);
      if (row === undefined) return [];
      const { status, note } = row;
      return status !== "ok" || (note !== "" && !published)
        ? [{ kernel: name, status, note, label }]
        : [];
    })
  );
}

/** Says of each run in `rows` but the one with the most: the kernels, and the day. */
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

/** Names the kernels whose mean is over fewer than `all` points: it compares with no other. */
export function partialMeans(
  counts: readonly (readonly [kernel: string, shapes: number])[],
  all: number,
): string[] {
  const fewer = counts.filter(([, shapes]) => shapes > 0 && shapes < all)
    .map(([kernel, shapes]) => `${kernel} (${shapes})`);
  return fewer.length === 0
    ? []
    : [`geomean over fewer than the ${all} shapes: ${fewer.join(", ")}`];
}

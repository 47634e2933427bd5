/**
 * Writes the notes below tables: failures, other runs, means that do not compare.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { Contender, Pivot } from "../model/pivot.ts";

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
    ({ kernel, status, note }) =>
      JSON.stringify([kernel, status, status === "unsupported" || note]),
  );
  const lines = [...different.values()].map((same) => {
    const { kernel, status, label } = same[0]!;
    const at = same.length > 1 ? `${same.length} shapes` : label;
    const how = status === "ok" ? "" : ` ${status}`;
    return `${kernel}${how} at ${at}${reasonOf(same)}`;
  });
  const left = lines.length - MOST_NOTES;
  return left > 0
    ? [...lines.slice(0, MOST_NOTES), `and ${left} more notes, ${all}`]
    : lines;
}

/** Returns the first reason of `notes`, and how many others there are; empty for none. */
function reasonOf(notes: readonly Note[]): string {
  const reasons = new Set(
    notes.flatMap(({ status, note }) => {
      const [line = ""] = note.split("\n");
      // Of unsupported configs each has a reason.
      return status === "unsupported" ? line.split("; ") : [line];
    }).filter((reason) => reason !== ""),
  );
  const [first] = reasons;
  if (first === undefined) return "";
  const more = reasons.size > 1 ? `; ${reasons.size - 1} more reasons` : "";
  return `: ${first}${more}`;
}

/** Names the kernels that are unsupported at every shape: a line for each reason. */
export function nowhereNotes(notes: readonly Note[]): string[] {
  const kernels = [...Map.groupBy(notes, ({ kernel }) => kernel)];
  const reasons = Map.groupBy(kernels, ([, own]) => reasonOf(own));
  return [...reasons].map(([reason, of]) =>
    `${
      of.map(([name]) => name).join(", ")
    }: unsupported at every shape${reason}`
  );
}

/** Returns the rows of `contenders` that failed, and those measured here that have a note. */
export function notedRows(
  { shapes }: Pivot,
  contenders: readonly Contender[],
): Note[] {
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

/**
 * Writes the notes below tables: failed rows, rows of several runs, means over different shapes.
 *
 * @module
 */

import { counted } from "../../bench/files/terminal_text.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { noiseNotes } from "../model/noise.ts";
import { type Contender, type Pivot, speedup } from "../model/pivot.ts";
import { isShown } from "../model/rank.ts";
import { isSuspect, SUSPECT_LEGEND, timeOf } from "../model/sol.ts";
import { formatMicroseconds, type Metric } from "./metrics.ts";

/** Columns that must be equal for times to be comparable. */
const CONDITIONS = ["timer", "cache", "flush", "fill"] as const;

const MOST_NOTES = 12;
/** The most runs that get a note of their own. Further ones are counted in one note. */
const MOST_RUNS = 3;
/** The largest difference of launch overheads without a note, as a share of the fastest time. */
const LAUNCHES = 0.03;

/** A row's note, with its kernel, status and the label of its shape. */
export interface Note {
  readonly kernel: string;
  readonly status: string;
  readonly note: string;
  readonly label: string;
}

/**
 * Formats `notes`. Equal notes of a kernel become one line.
 *
 * @param all Says where all notes are, in a line that replaces those beyond {@linkcode MOST_NOTES}.
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

/** Returns the first reason of `notes` and the number of other ones; empty if there is none. */
function reasonOf(notes: readonly Note[]): string {
  const reasons = new Set(
    notes.flatMap(({ status, note }) => {
      const [line = ""] = note.split("\n");
      // The note of an unsupported row has the reasons of all its configs.
      return status === "unsupported" ? line.split("; ") : [line];
    }).filter((reason) => reason !== ""),
  );
  const [first] = reasons;
  if (first === undefined) return "";
  const more = reasons.size > 1
    ? `; ${counted(reasons.size - 1, "more reason")}`
    : "";
  return `: ${first}${more}`;
}

/** Names the kernels that are unsupported at every shape: a line for each reason. */
function nowhereNotes(notes: readonly Note[]): string[] {
  const kernels = [...Map.groupBy(notes, ({ kernel }) => kernel)];
  const reasons = Map.groupBy(kernels, ([, own]) => reasonOf(own));
  return [...reasons].map(([reason, of]) =>
    `${
      of.map(([name]) => name).join(", ")
    }: unsupported at every shape${reason}`
  );
}

/** Returns the rows of `contenders` that failed, and those measured here that have a note. */
function notedRows(
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

/**
 * Describes the runs of the rows, except for the run with the most rows: kernels, number of rows and
 * day, and the time if several runs are of that day. Only shapes with rows of several runs count.
 *
 * @param shapes The rows of each shape.
 */
export function runNotes(shapes: readonly (readonly CsvRow[])[]): string[] {
  const rows = shapes.flat();
  const mixed = new Set(
    shapes.filter((own) => own.some(({ run }) => run !== own[0]!.run)).flat(),
  );
  const all = [...Map.groupBy(rows, ({ run }) => run).values()]
    .toSorted((a, b) => b.length - a.length);
  const runs = all.slice(1)
    .map((own) => own.filter((row) => mixed.has(row)))
    .filter((own) => own.length > 0);
  const days = all.map(dayOf);
  const notes = runs.slice(0, MOST_RUNS).map((own) => {
    const kernels = new Set(own.map(({ kernel }) => kernel));
    const day = dayOf(own);
    const isOnly = days.filter((other) => other === day).length === 1;
    const time = isOnly ? "" : ` ${utcOf(own).slice(11)} UTC`;
    return `${
      [...kernels].join(", ")
    }: ${own.length} of ${rows.length} rows are from a different run${
      day === "" ? "" : `, of ${day}${time}`
    }`;
  });
  const more = runs.length - notes.length;
  return more > 0
    ? [...notes, `Rows are of ${counted(more, "more run")}`]
    : notes;
}

/**
 * Counts the shapes at which the launch overheads of rows differ by more than {@linkcode LAUNCHES} of
 * the fastest time. They differ by up to half a microsecond between GPUs, hosts and hours.
 *
 * @param shapes The rows of each shape.
 */
export function launchNotes(
  shapes: readonly (readonly CsvRow[])[],
): string[] {
  const compared = shapes.map((rows) =>
    rows.filter(({ floor_us }) => floor_us !== "")
  ).filter((rows) => rows.length > 1);
  const far = compared.flatMap((rows) => {
    const floors = rows.map(({ floor_us }) => Number(floor_us));
    const apart = Math.max(...floors) - Math.min(...floors);
    const fastest = Math.min(...rows.map((row) => Number(row.median_us)));
    return apart > LAUNCHES * fastest ? [apart] : [];
  });
  return far.length === 0 ? [] : [
    `launch overhead differs between rows by over ${
      100 * LAUNCHES
    } % of the fastest time at ${far.length} of ${
      counted(compared.length, "shape")
    }, by up to ${
      formatMicroseconds(Math.max(...far))
    } µs; rows of one device and run differ least`,
  ];
}

function dayOf(run: readonly CsvRow[]): string {
  return utcOf(run).slice(0, 10);
}

/** Returns the date and the time in minutes of a run's first row; empty if it has none. */
function utcOf([row]: readonly CsvRow[]): string {
  return row!.time && new Date(row!.time).toISOString().slice(0, 16);
}

/**
 * Names the kernels whose mean is over fewer than `all` shapes, so that it cannot be compared with
 * others.
 */
function partialMeans(
  counts: readonly (readonly [kernel: string, shapes: number])[],
  all: number,
): string[] {
  const fewer = counts.filter(([, shapes]) => shapes > 0 && shapes < all)
    .map(([kernel, shapes]) => `${kernel} (${shapes})`);
  return fewer.length === 0
    ? []
    : [`geomean over fewer than the ${all} shapes: ${fewer.join(", ")}`];
}

/** Returns the notes of a table of `contenders` and `metrics`. */
export function notesOf(
  table: Pivot,
  { contenders, metrics, areSets = false, areSome = areSets }: {
    readonly contenders: readonly Contender[];
    readonly metrics: readonly Pick<Metric, "notes">[];
    /** Whether the rows are of several sets, so that no note about several runs is needed. */
    readonly areSets?: boolean;
    /**
     * Whether kernels were left out on request. Then no note names those that are unsupported
     * everywhere.
     */
    readonly areSome?: boolean;
  },
): string[] {
  const { shapes, baseline } = table;
  const own = rowsOf(table, contenders.filter((c) => !c.published));
  return [
    ...new Set(metrics.flatMap(({ notes }) => notes)),
    ...sourcesOf(table).map((source, i) => {
      const mark = isOneSource(table) ? "" : `[${i + 1}] `;
      return `${mark}${sourceNote(table, source)}`;
    }),
    ...conditionNotes(own),
    ...(areSets ? [] : runNotes(
      shapes.map((shape) =>
        rowsAt(shape, contenders.filter((c) => !c.published))
      ),
    )),
    ...launchNotesOf(table, contenders),
    ...(rowsOf(table, contenders).some(isSuspect) ? [SUSPECT_LEGEND] : []),
    ...(baseline === undefined ? [] : partialMeans(
      contenders.map(({ name }) => {
        const both = shapes.filter((shape) =>
          speedup(shape, name, baseline) !== undefined
        );
        return [name, both.length] as const;
      }),
      shapes.length,
    )),
    ...noiseNotesOf(table, contenders.filter((c) => !c.published)),
    ...formatNotes(notedRows(table, contenders)),
    ...(areSome ? [] : nowhereNotes(
      notedRows(table, table.contenders.filter((c) => !isShown(table, c))),
    )),
  ];
}

/** Returns the {@linkcode launchNotes} of the rows of `contenders` that are not published. */
export function launchNotesOf(
  table: Pivot,
  contenders: readonly Contender[] = table.contenders,
): string[] {
  const own = contenders.filter((c) => !c.published);
  return launchNotes(table.shapes.map((shape) => rowsAt(shape, own)));
}

/** Counts the noisy rows of `contenders`, and says what noisy means. */
export function noiseNotesOf(
  table: Pivot,
  contenders: readonly Contender[] = table.contenders,
): string[] {
  return noiseNotes(rowsOf(table, contenders));
}

/**
 * Returns the mark of each contender's source, such as `[1]`; it is empty for our rows, and if
 * there is one source.
 */
export function marksOf(table: Pivot): ReadonlyMap<string, string> {
  const sources = isOneSource(table) ? [] : sourcesOf(table);
  return new Map(
    table.contenders.map((contender) => {
      const at = sources.findIndex((own) => own.includes(contender));
      return [contender.name, at < 0 ? "" : `[${at + 1}]`];
    }),
  );
}

/** Returns the published contenders by device and run. */
function sourcesOf({ contenders }: Pivot): (readonly Contender[])[] {
  const published = contenders.filter((contender) => contender.published);
  return [
    ...Map.groupBy(
      published,
      ({ device, run }) => JSON.stringify([device, run]),
    ).values(),
  ];
}

function isOneSource(table: Pivot): boolean {
  return table.contenders.every(({ published }) => published) &&
    sourcesOf(table).length === 1;
}

function sourceNote(table: Pivot, source: readonly Contender[]): string {
  const rows = rowsOf(table, source);
  const { device, run } = source[0]!;
  const own = table.contenders.some(({ published }) => !published);
  const other = own ? "another machine's, " : "";
  const means = rows.some((row) => row.median_us === "") ? ", means" : "";
  const how = conditionsOf(rows[0]!);
  return `${other}published: ${device}, ${run} (${how}${means})`;
}

function conditionNotes(own: readonly CsvRow[]): string[] {
  const ways = new Set(own.map(conditionsOf));
  if (ways.size < 2) return [];
  return [`not comparable, as measured differently: ${[...ways].join("; ")}`];
}

function conditionsOf(row: CsvRow): string {
  return CONDITIONS.map((column) => row[column]).join(" ");
}

function rowsOf({ shapes }: Pivot, own: readonly Contender[]): CsvRow[] {
  return shapes.flatMap((shape) => rowsAt(shape, own));
}

/** Returns the rows of the contenders `own` at a shape that have a time. */
function rowsAt(
  { rows }: Pivot["shapes"][number],
  own: readonly Contender[],
): CsvRow[] {
  return own.flatMap(({ name }) => rows.get(name) ?? [])
    .filter((row) => timeOf(row) !== undefined);
}

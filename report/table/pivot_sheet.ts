/**
 * Tables of times as sheets.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { Cell } from "./grid.ts";
import {
  isAboveSol,
  SUSPECT_LEGEND,
  SUSPECT_MARK,
  timeOf,
} from "../model/sol.ts";
import {
  type Contender,
  type Pivot,
  type PivotShape,
  speedup,
} from "../model/pivot.ts";
import type { Sheet } from "./layout.ts";
import { partialMeans } from "./notes.ts";
import { runNotes } from "./run_notes.ts";
import { formatMicroseconds } from "./table.ts";

/** What must be equal for times to be comparable. */
const CONDITIONS = ["timer", "cache", "flush", "fill"] as const;
const MOST_NOTES = 12;

/**
 * The marks of published contenders, `[1]` and so on, by name; none where all are of one
 * source.
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

/** `table` with a line a shape and a column a contender. */
export function pivotSheet(table: Pivot): Sheet {
  const { contenders, shapes, baseline } = table;
  const timed = rowsOf(table, contenders);
  const marks = marksOf(table);
  const rivals = shapes.some(({ rival }) => rival !== undefined);
  const against = baseline !== undefined && rivals
    ? [`best other vs ${baseline}`]
    : [];
  const body = shapes.map((shape): Cell[] => [
    { text: shape.label },
    ...contenders.map(({ name }) => cellOf(shape, name)),
    ...against.map(() => ({
      text: formatFactor(speedup(shape, shape.rival ?? "", baseline)),
    })),
  ]);
  const factorsOf = (nameOf: (shape: PivotShape) => string | undefined) =>
    shapes.map((shape) => speedup(shape, nameOf(shape) ?? "", baseline))
      .filter((factor) => factor !== undefined);
  const mean = (nameOf: (shape: PivotShape) => string | undefined): Cell => ({
    text: formatFactor(geomean(factorsOf(nameOf))),
  });
  return {
    title: `${table.suite} on ${table.device}`,
    head: [
      timed.every((row) => row.median_us === "") ? "mean µs" : "median µs",
      ...contenders.map(({ name }) => `${name}${marks.get(name)}`),
      ...against,
    ],
    body,
    foot: baseline === undefined ? [] : [[
      { text: `geomean vs ${baseline}` },
      ...contenders.map(({ name }) => mean(() => name)),
      ...against.map(() => mean(({ rival }) => rival)),
    ]],
    notes: [
      ...sourcesOf(table).map((own, i) => {
        const mark = isOneSource(table) ? "" : `[${i + 1}] `;
        return `${mark}${sourceNote(table, own)}`;
      }),
      ...conditionNotes(table),
      ...runNotes(rowsOf(table, contenders.filter((c) => !c.published))),
      ...(timed.some(isAboveSol) ? [SUSPECT_LEGEND] : []),
      ...partialMeans(
        contenders.map(({ name }) => [name, factorsOf(() => name).length]),
        shapes.length,
      ),
      ...failureNotes(table),
    ],
  };
}

/** A factor to be read, such as `1.53x`; empty where there is none. */
export function formatFactor(factor: number | undefined): string {
  return factor === undefined ? "" : `${factor.toFixed(2)}x`;
}

function cellOf(shape: PivotShape, name: string): Cell {
  const row = shape.rows.get(name);
  if (row === undefined) return { text: "" };
  const us = timeOf(row);
  if (us !== undefined) {
    const mark = isAboveSol(row) ? SUSPECT_MARK : "";
    const paint = name === shape.best ? "best" : "plain";
    return { text: `${formatMicroseconds(us)}${mark}`, paint };
  }
  return {
    text: row.status,
    paint: row.status === "unsupported" ? "dim" : "bad",
  };
}

/** The contenders that are published, by device and run. */
function sourcesOf({ contenders }: Pivot): (readonly Contender[])[] {
  const published = contenders.filter((contender) => contender.published);
  return [
    ...Map.groupBy(published, ({ device, run }) => `${device}\0${run}`)
      .values(),
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

/** Said where rows of this machine were not all measured the same way. */
function conditionNotes(table: Pivot): string[] {
  const own = table.contenders.filter(({ published }) => !published);
  const ways = new Set(rowsOf(table, own).map(conditionsOf));
  if (ways.size < 2) return [];
  return [`not comparable, as measured differently: ${[...ways].join("; ")}`];
}

function failureNotes(table: Pivot): string[] {
  const failed = table.contenders.flatMap(({ name }) =>
    table.shapes.flatMap((shape) => {
      const row = shape.rows.get(name);
      return row && row.status !== "ok"
        ? [{ name, label: shape.label, row }]
        : [];
    })
  );
  const different = Map.groupBy(
    failed,
    ({ name, row }) => `${name}\0${row.status}\0${row.note}`,
  );
  const notes = [...different.values()].map((same) => {
    const { name, label, row } = same[0]!;
    const at = same.length > 1 ? `${same.length} shapes` : label;
    const why = row.note.split("\n")[0];
    return `${name} ${row.status} at ${at}${why ? `: ${why}` : ""}`;
  });
  const left = notes.length - MOST_NOTES;
  return left > 0
    ? [...notes.slice(0, MOST_NOTES), `and ${left} more, all in the CSV`]
    : notes;
}

function rowsOf(table: Pivot, own: readonly Contender[]): CsvRow[] {
  return table.shapes.flatMap(({ rows }) =>
    own.flatMap(({ name }) => rows.get(name) ?? [])
  ).filter((row) => timeOf(row) !== undefined);
}

function conditionsOf(row: CsvRow): string {
  return CONDITIONS.map((column) => row[column]).join(" ");
}

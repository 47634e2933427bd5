/**
 * Makes tables to read: points down, kernels across, times in microseconds, and how much
 * faster than the baseline they are; and tables of wins.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import { recordOf } from "../../bench/row/csv.ts";
import type { CsvRow, KeptRow } from "../../bench/row/csv_row.ts";
import type { Row } from "../../bench/row/row.ts";
import { isNoisyRow, noiseNotes } from "../model/noise.ts";
import {
  type Contender,
  type Pivot,
  pivots,
  type PivotShape,
  speedup,
} from "../model/pivot.ts";
import {
  isAboveSol,
  SUSPECT_LEGEND,
  SUSPECT_MARK,
  timeOf,
} from "../model/sol.ts";
import { allWins } from "../model/wins.ts";
import { formatNotes, notedRows, partialMeans, runNotes } from "./notes.ts";
import {
  type Cell,
  formatText,
  type GridOptions,
  type Sheet,
} from "./sheet.ts";

/** Columns that must be equal for times to be comparable. */
const CONDITIONS = ["timer", "cache", "flush", "fill"] as const;
/** The options of {@linkcode formatTable}. */
export interface TableOptions extends GridOptions {
  /** Kernels that speed-ups are relative to, the preferred first, by suite. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/** Returns the lines of a table for each suite and device of rows that were just measured. */
export function formatTable(
  rows: readonly Row[],
  { baselines, ...screen }: TableOptions,
): string[] {
  const kept = rows.filter((row): row is KeptRow => row.status !== "checked");
  const tables = pivots(kept.map(recordOf), {
    baselines: (suite) => baselines[suite] ?? [],
  });
  return tables.flatMap((table, i) => [
    ...(i > 0 ? [""] : []),
    ...formatText(pivotSheet(table), screen),
  ]);
}

/** Returns `table` with a line for each point and a column for each contender. */
export function pivotSheet(table: Pivot): Sheet {
  const { contenders, shapes, baseline } = table;
  const timed = rowsOf(table, contenders);
  const own = rowsOf(table, contenders.filter((c) => !c.published));
  const marks = marksOf(table);
  const rivals = shapes.some(({ rival }) => rival !== undefined);
  const against = baseline !== undefined && rivals
    ? [`best other vs ${baseline}`]
    : [];
  const body = shapes.map((shape): Cell[] => [
    { text: shape.label },
    ...contenders.map(({ name }) => cellOf(shape, name)),
    ...against.map(() => factorCell(factorsOf([shape], rivalOf, baseline))),
  ]);
  return {
    title: titleOf(table),
    head: [
      timed.length > 0 && timed.every((row) => row.median_us === "")
        ? "mean µs"
        : "median µs",
      ...contenders.map(({ name }) => `${name}${marks.get(name)}`),
      ...against,
    ],
    body,
    foot: baseline === undefined ? [] : [[
      { text: `geomean vs ${baseline}` },
      ...contenders.map(({ name }) =>
        factorCell(factorsOf(shapes, () => name, baseline))
      ),
      ...against.map(() => factorCell(factorsOf(shapes, rivalOf, baseline))),
    ]],
    notes: [
      ...sourcesOf(table).map((source, i) => {
        const mark = isOneSource(table) ? "" : `[${i + 1}] `;
        return `${mark}${sourceNote(table, source)}`;
      }),
      ...conditionNotes(own),
      ...runNotes(own),
      ...(timed.some(isAboveSol) ? [SUSPECT_LEGEND] : []),
      ...partialMeans(
        contenders.map(({ name }) =>
          [name, factorsOf(shapes, () => name, baseline).length] as const
        ),
        shapes.length,
      ),
      ...noiseNotes(own.filter(isNoisyRow).length, own.length),
      ...formatNotes(notedRows(table)),
    ],
  };
}

/** Returns one table of wins, ties and losses for each of `against` that `table` has. */
export function winsSheets(table: Pivot, against: readonly string[]): Sheet[] {
  const marks = marksOf(table);
  const own = allWins(table, against);
  return [...Map.groupBy(own, (wins) => wins.against)].map(([other, all]) => ({
    title: `${titleOf(table)}: how many times as fast as ${other}${
      marks.get(other) ?? ""
    }`,
    head: ["kernel", "wins/ties/losses", "min", "median", "max", "geomean"],
    body: all.map((wins): Cell[] => [
      { text: `${wins.kernel}${marks.get(wins.kernel) ?? ""}` },
      { text: `${wins.wins}/${wins.ties}/${wins.losses}` },
      ...[wins.min, wins.median, wins.max, wins.geomean].map((factor) => ({
        text: factor!.toFixed(3),
      })),
    ]),
    foot: [],
    notes: all.flatMap(({ kernel, missing, suspect }) => {
      const of = `of ${table.shapes.length} shapes`;
      const without = missing - suspect;
      return [
        ...(without === 0 ? [] : [
          `${kernel}: ${without} ${of} are not measured for it or ${other}, and not counted`,
        ]),
        ...(suspect === 0 ? [] : [
          `${kernel}: at ${suspect} ${of} it or ${other} is above SOL, and not counted`,
        ]),
      ];
    }),
  }));
}

/**
 * Formats microseconds with four significant digits.
 *
 * @example
 * ```ts
 * import { formatMicroseconds } from "./table.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatMicroseconds(8.6134), "8.613");
 * strictEqual(formatMicroseconds(86134.2), "86134");
 * ```
 */
export function formatMicroseconds(us: number): string {
  const whole = Math.max(1, `${Math.floor(us)}`.length);
  return us.toFixed(Math.max(0, 4 - whole));
}

/** Returns the title of `table`. */
export function titleOf({ suite, device }: Pivot): string {
  return device === "" ? suite : `${suite} on ${device}`;
}

function cellOf(shape: PivotShape, name: string): Cell {
  const row = shape.rows.get(name);
  if (row === undefined) return { text: "" };
  const us = timeOf(row);
  if (us === undefined) {
    const paint = row.status === "unsupported" ? "dim" : "bad";
    return { text: row.status, paint };
  }
  const noisy = isNoisyRow(row) ? "~" : "";
  const mark = isAboveSol(row) ? SUSPECT_MARK : "";
  const paint = name === shape.best ? "best" : "plain";
  return { text: `${noisy}${formatMicroseconds(us)}${mark}`, paint };
}

function rivalOf({ rival }: PivotShape): string | undefined {
  return rival;
}

/** A speed-up at a shape, and whether one of its two rows is noisy. */
interface Factor {
  readonly factor: number;
  readonly noisy: boolean;
}

/** Returns the speed-ups of the contender of each shape over `baseline`, where both have times. */
function factorsOf(
  shapes: readonly PivotShape[],
  nameOf: (shape: PivotShape) => string | undefined,
  baseline: string | undefined,
): Factor[] {
  return shapes.flatMap((shape) => {
    const name = nameOf(shape);
    const factor = speedup(shape, name, baseline);
    if (factor === undefined) return [];
    // Relative to itself a kernel is 1.00x, whatever its noise.
    const noisy = name !== baseline &&
      [name, baseline].some((one) => isNoisyRow(shape.rows.get(one ?? "")!));
    return [{ factor, noisy }];
  });
}

/** Formats the mean of `factors`, marked if one of them rests on a noisy row. */
function factorCell(factors: readonly Factor[]): Cell {
  const mean = geomean(factors.map(({ factor }) => factor));
  const mark = factors.some(({ noisy }) => noisy) ? "~" : "";
  return { text: mean === undefined ? "" : `${mark}${mean.toFixed(2)}x` };
}

/** Returns the marks of published contenders, `[1]` and so on, by name; empty for one source. */
function marksOf(table: Pivot): ReadonlyMap<string, string> {
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

function rowsOf(table: Pivot, own: readonly Contender[]): CsvRow[] {
  return table.shapes.flatMap(({ rows }) =>
    own.flatMap(({ name }) => rows.get(name) ?? [])
  ).filter((row) => timeOf(row) !== undefined);
}

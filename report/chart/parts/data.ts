/**
 * What the pictures of a suite are drawn from.
 *
 * @module
 */

import type { CsvRow } from "../../../bench/row/csv_row.ts";
import type { Calibration } from "../../../bench/measure/calibration.ts";
import { KEY_COLUMNS } from "../../../bench/row/row.ts";
import { isAboveSol, timeOf } from "../../model/sol.ts";
import { type Look, paletteOf } from "../canvas/palette.ts";
import type { ThemeName } from "../canvas/theme.ts";

/** A problem that kernels were timed at. */
export interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** What else tells it from others of the suite, such as `nt`; often empty. */
  readonly extra: string;
}

/** A kernel at a shape: its time, or why there is none. */
export interface Entry {
  readonly row: CsvRow;
  /** Microseconds; missing where the status is not `ok`. */
  readonly us?: number;
  /** Quartiles; the time itself where they were not recorded. */
  readonly q1: number;
  readonly q3: number;
}

/** What is known besides rows. */
export interface PlotOptions {
  readonly theme: ThemeName;
  /** The suite's title; its name where nothing is known of it. */
  readonly title?: string;
  /** Baselines, the preferred first: the first with a time is taken. */
  readonly baselines?: readonly string[];
  /** What the device can do, from its own measurement. */
  readonly calibration?: Calibration;
  /** Samples in nanoseconds, a list for each repeat, by the key of a row. */
  readonly samples?: (
    row: CsvRow,
  ) => readonly (readonly number[])[];
}

/** The rows of one suite on one device, arranged for drawing. */
export interface PlotData extends PlotOptions {
  readonly suite: string;
  readonly title: string;
  readonly device: string;
  readonly rows: readonly CsvRow[];
  /** In the order of the rows. */
  readonly kernels: readonly string[];
  /** Ascending. */
  readonly shapes: readonly Shape[];
  readonly baseline: string | undefined;
  readonly looks: ReadonlyMap<string, Look>;
  /** Nothing where there is no row. */
  at(shape: Shape, kernel: string): Entry | undefined;
}

/** `rows`, all of one suite and device, and at least one. */
export function plotData(
  rows: readonly CsvRow[],
  options: PlotOptions,
): PlotData {
  const nameOf = naming(rows);
  const extraOf = extras(rows);
  const shapes = new Map<string, Shape>();
  const entries = new Map<string, Entry>();
  for (const row of rows) {
    const shape = {
      m: Number(row.m),
      n: Number(row.n),
      k: Number(row.k),
      extra: extraOf(row),
    };
    shapes.set(idOf(shape), shape);
    entries.set(`${idOf(shape)} ${nameOf(row)}`, entryOf(row));
  }
  const kernels = [...new Set(rows.map(nameOf))];
  const { suite, device } = rows[0]!;
  const timed = new Set(
    rows.filter((row) => timeOf(row) !== undefined).map(nameOf),
  );
  const wanted = [...options.baselines ?? [], ...kernels];
  return {
    ...options,
    suite,
    title: options.title ?? suite,
    device,
    rows,
    kernels,
    shapes: [...shapes.values()].toSorted((a, b) =>
      a.m - b.m || a.n - b.n || compare(a.extra, b.extra) || a.k - b.k
    ),
    baseline: wanted.find((name) => timed.has(name)),
    looks: paletteOf(kernels, options.theme),
    at: (shape, kernel) => entries.get(`${idOf(shape)} ${kernel}`),
  };
}

/** The time of `entry` where it may be compared: not where it is above SOL. */
export function soundUs(entry: Entry | undefined): number | undefined {
  return entry === undefined || isAboveSol(entry.row) ? undefined : entry.us;
}

/** What a picture of comparisons says of rows that it leaves out; empty without any. */
export function suspectNote({ rows }: Pick<PlotData, "rows">): string {
  const suspect = rows.filter(isAboveSol).length;
  return suspect === 0 ? "" : `; ${suspect} above SOL left out`;
}

/** Of another kernel's time at `shape`, how many times `kernel`'s it is. */
export function speedupOf(
  data: PlotData,
  shape: Shape,
  [kernel, against]: readonly [string, string],
): number | undefined {
  const own = soundUs(data.at(shape, kernel));
  const other = soundUs(data.at(shape, against));
  return own === undefined || other === undefined ? undefined : other / own;
}

/** What a cell without a time says: a row's status, or that there is no row. */
export function statusOf(entry: Entry | undefined): string {
  if (entry === undefined) return "no row";
  if (isAboveSol(entry.row)) return "above SOL";
  return entry.row.status === "ok" ? "no time" : entry.row.status;
}

/** `16×16×8192`, and what else tells the shape from others. */
export function shapeLabel({ m, n, k, extra }: Shape): string {
  return `${m}×${n}×${k} ${extra}`.trim();
}

/**
 * Microseconds as labels have them.
 *
 * @example
 * ```ts
 * import { formatUs } from "./data.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatUs(8.4801), "8.48 µs");
 * strictEqual(formatUs(12345.6), "12.35 ms");
 * ```
 */
export function formatUs(us: number): string {
  const [value, unit] = us < 10_000 ? [us, "µs"] : [us / 1000, "ms"];
  const digits = value < 100 ? 2 : value < 1000 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}

function idOf({ m, n, k, extra }: Shape): string {
  return JSON.stringify([m, n, k, extra]);
}

function entryOf(row: CsvRow): Entry {
  const us = timeOf(row);
  if (us === undefined) return { row, q1: NaN, q3: NaN };
  const quartile = (text: string) => text === "" ? us : Number(text);
  return { row, us, q1: quartile(row.q1_us), q3: quartile(row.q3_us) };
}

/** Kernels' names, with the backend where several have one of that name. */
function naming(rows: readonly CsvRow[]): (row: CsvRow) => string {
  const backends = Map.groupBy(rows, ({ kernel }) => kernel);
  return ({ kernel, backend }) =>
    backends.get(kernel)!.some((row) => row.backend !== backend)
      ? `${kernel} (${backend})`
      : kernel;
}

function extras(rows: readonly CsvRow[]): (row: CsvRow) => string {
  const own = ["suite", "kernel", "backend", "m", "n", "k"];
  const varying = KEY_COLUMNS.filter((column) =>
    !own.includes(column) && new Set(rows.map((row) => row[column])).size > 1
  );
  return (row) => varying.map((column) => row[column]).join(" ").trim();
}

// Not localeCompare: the order would be the machine's.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

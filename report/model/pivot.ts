/**
 * Arranges rows as tables: kernels across, the points of their axes down. Tables, charts and
 * the page read the same pivot.
 *
 * @module
 */

import { isPeerLibrary } from "../../bench/model/peer.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import {
  CASE_COLUMNS,
  isPublished,
  KEY_COLUMNS,
  PLACE_COLUMNS,
} from "../../bench/row/row.ts";
import { byPoint, labelOf, type Point, pointOf, varyingAxes } from "./axes.ts";
import { soundTimeOf, type TimeColumns } from "./sol.ts";
import { byTiming } from "./timing.ts";

/** The columns that a pivot reads. */
export type PivotRow =
  & Pick<
    CsvRow,
    | typeof KEY_COLUMNS[number]
    | typeof PLACE_COLUMNS[number]
    | "run"
    | "harness"
    | "library"
  >
  & TimeColumns;

/** A column of a table: a kernel, and where it ran. */
export interface Contender {
  /**
   * The kernel, followed by its backend where several have a kernel of that name, and by `@`
   * and the run where a published kernel has the name of another column.
   */
  readonly name: string;
  readonly kernel: string;
  readonly device: string;
  /** The run that published it; empty for what this program measured. */
  readonly run: string;
  readonly published: boolean;
  /** Whether it is a library, or a kernel that Python ran. */
  readonly peer: boolean;
}

/** A line of a table. */
export interface PivotShape<R extends PivotRow = CsvRow> {
  /** The sizes, and the values of the other axes on which the lines differ. */
  readonly label: string;
  readonly point: Point;
  /** Rows by the name of their {@linkcode Contender}. */
  readonly rows: ReadonlyMap<string, R>;
  /** The fastest contender that was measured here and has no suspect time; of equals the first. */
  readonly best: string | undefined;
}

/** The rows of a suite on a device, timed in one way, as a table. */
export interface Pivot<R extends PivotRow = CsvRow> {
  readonly suite: string;
  /** The device of all that is not marked as another machine's. */
  readonly device: string;
  /** The axes on which the lines differ. */
  readonly axes: readonly string[];
  readonly contenders: readonly Contender[];
  readonly shapes: readonly PivotShape<R>[];
  /** The name of the contender that speed-ups are relative to. */
  readonly baseline: string | undefined;
}

/** The choices of {@linkcode pivots}. */
interface PivotOptions {
  /** Baselines by suite, the preferred first: the first that has a time is taken. */
  readonly baselines: (suite: string) => readonly string[];
}

/**
 * Returns how many times as fast as `baseline` the contender `name` is at `shape`; undefined
 * where one of them has no time, or a suspect one.
 */
export function speedup(
  shape: Pick<PivotShape<PivotRow>, "rows">,
  name: string | undefined,
  baseline: string | undefined,
): number | undefined {
  const own = soundTimeOf(shape.rows.get(name ?? ""));
  const other = soundTimeOf(shape.rows.get(baseline ?? ""));
  return own === undefined || other === undefined ? undefined : other / own;
}

/**
 * Returns one table for each suite, device and timing, in the order in which they come. Published rows
 * join every table that has their point; they get tables of their own where there is
 * nothing else.
 */
export function pivots<R extends PivotRow>(
  rows: readonly R[],
  options: PivotOptions,
): Pivot<R>[] {
  const own = rows.filter((row) => !isPublished(row));
  const published = Map.groupBy(rows.filter(isPublished), pointTextOf);
  return byTiming(own.length > 0 ? own : rows).map((table) => {
    if (own.length === 0) return pivot(table, options);
    const points = new Set(table.map(pointTextOf));
    const beside = [...points].flatMap((point) => published.get(point) ?? []);
    return pivot([...table, ...beside], options);
  });
}

/** Returns the contender called `name`, or `name` without the run where there is one run only. */
export function contenderNamed(
  { contenders }: { readonly contenders: readonly Contender[] },
  name: string,
): Contender | undefined {
  return contenders.find((contender) => contender.name === name) ??
    contenders.find(({ kernel, run }) => `${kernel}@${run}` === name);
}

/** Returns the rows of `rows` that are in none of `tables`: published ones at other points. */
export function leftOut(
  rows: readonly CsvRow[],
  tables: readonly Pivot[],
): CsvRow[] {
  const shown = new Set(
    tables.flatMap(({ shapes }) => shapes.flatMap((s) => [...s.rows.values()])),
  );
  return rows.filter((row) => !shown.has(row));
}

function pivot<R extends PivotRow>(
  rows: readonly R[],
  options: PivotOptions,
): Pivot<R> {
  const { suite, device } = rows[0]!;
  const kinds = Map.groupBy(rows, kindOf);
  const contenders = named([...kinds.values()].map(([row]) => row!));
  const names = new Map(
    [...kinds.keys()].map((kind, i) => [kind, contenders[i]!.name] as const),
  );
  const own = contenders.filter(({ published }) => !published);
  const here = own.length > 0 ? own : contenders;
  const timed = new Set(
    rows.filter((row) => soundTimeOf(row) !== undefined)
      .map((row) => names.get(kindOf(row))),
  );
  const baseline = options.baselines(suite)
    .map((name) => contenderNamed({ contenders }, name)?.name)
    .find((name) => name !== undefined && timed.has(name));
  const lines = [...Map.groupBy(rows, pointTextOf).values()]
    .map((at) => ({ at, point: pointOf(at[0]!) }));
  const points = lines.map(({ point }) => point);
  const axes = varyingAxes(points);
  const compare = byPoint(points, axes);
  const shapes = lines.toSorted((a, b) => compare(a.point, b.point))
    .map(({ at, point }): PivotShape<R> => {
      const byName = new Map(at.map((row) => [names.get(kindOf(row))!, row]));
      const time = (name: string) => soundTimeOf(byName.get(name));
      const order = here.map(({ name }) => name)
        .filter((name) => time(name) !== undefined)
        .toSorted((a, b) => time(a)! - time(b)!);
      return {
        label: labelOf(at[0]!, axes),
        point,
        rows: byName,
        best: order[0],
      };
    });
  return { suite, device, axes, contenders, shapes, baseline };
}

/** Returns the contender of each of `rows`, which are one of each kind. */
function named(rows: readonly PivotRow[]): Contender[] {
  const same = Map.groupBy(rows, ({ kernel }) => kernel);
  return rows.map((row) => {
    const { kernel, backend, device } = row;
    const others = same.get(kernel)!;
    const published = isPublished(row);
    const run = published ? row.run : "";
    const backends = others.some((other) => other.backend !== backend)
      ? ` (${backend})`
      : "";
    const source = run !== "" && others.length > 1 ? `@${run}` : "";
    const name = `${kernel}${source || backends}`;
    const peer = !published && isPeer(row);
    return { name, kernel, device, run, published, peer };
  });
}

/** Returns whether a row is of Python, or of a kernel that is called after its library. */
function isPeer({ kernel, library }: PivotRow): boolean {
  const [name = ""] = library.split(" ");
  return isPeerLibrary(library) || (name !== "" && kernel.startsWith(name));
}

function kindOf(row: PivotRow): string {
  const { kernel, backend, device } = row;
  const run = isPublished(row) ? row.run : "";
  return JSON.stringify([kernel, backend, device, run]);
}

const POINT = CASE_COLUMNS.filter((column) =>
  column !== "suite" && column !== "kernel" && column !== "backend"
);

/** Returns the computation of a row as text: equal for rows that did the same work. */
function pointTextOf(row: PivotRow): string {
  return JSON.stringify(POINT.map((column) => row[column]));
}

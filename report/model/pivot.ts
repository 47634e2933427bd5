/**
 * Rows as tables: kernels across, shapes down.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { KEY_COLUMNS } from "../../bench/row/row.ts";
import { isPublished } from "../import/published.ts";
import { isAboveSol } from "./sol.ts";

/** A column of a table: a kernel, and where it ran. */
export interface Contender {
  /** The kernel; with `@` and the run where another run has a kernel of that name. */
  readonly name: string;
  readonly kernel: string;
  readonly device: string;
  /** The run that published it; empty for what this program measured. */
  readonly run: string;
  readonly published: boolean;
}

/** A line of a table. */
export interface PivotShape {
  /** M×N×K, which the lines are in the order of, and what else differs between them. */
  readonly label: string;
  /** Rows by the name of their {@linkcode Contender}. */
  readonly rows: ReadonlyMap<string, CsvRow>;
  /** Who is fastest of those that are no other machine's, those above SOL left out; of equals the first. */
  readonly best: string | undefined;
  /** The fastest of these but for the baseline: among others that could never lose. */
  readonly rival: string | undefined;
}

/** A table. */
export interface Pivot {
  readonly suite: string;
  /** The device of all that is not marked as another machine's. */
  readonly device: string;
  readonly contenders: readonly Contender[];
  readonly shapes: readonly PivotShape[];
  /** The name of the contender that speed-ups are relative to. */
  readonly baseline: string | undefined;
}

/** Which tables. */
export interface PivotOptions {
  /** Baselines by suite, the preferred first: the first that has a time is taken. */
  readonly baselines: (suite: string) => readonly string[];
}

/**
 * The time of a row in microseconds: its median or, of a published row without one, its
 * mean; nothing where it has none.
 */
export function timeOf(row: CsvRow | undefined): number | undefined {
  if (row?.status !== "ok") return undefined;
  const text = row.median_us || row.mean_us;
  return text === "" ? undefined : Number(text);
}

/** The same, of rows that may be compared: nothing where it is above SOL. */
export function soundTimeOf(row: CsvRow | undefined): number | undefined {
  return row === undefined || isAboveSol(row) ? undefined : timeOf(row);
}

/**
 * How many times as fast as `baseline` the contender `name` is at `shape`, where both have
 * a time that is not above SOL.
 */
export function speedup(
  shape: PivotShape,
  name: string,
  baseline: string | undefined,
): number | undefined {
  const own = soundTimeOf(shape.rows.get(name));
  const other = soundTimeOf(shape.rows.get(baseline ?? ""));
  return own === undefined || other === undefined ? undefined : other / own;
}

/**
 * One table for each suite and device, in the order in which they come. Published rows
 * join every table that has their point; they get tables of their own where there is
 * nothing else.
 */
export function pivots(
  rows: readonly CsvRow[],
  options: PivotOptions,
): Pivot[] {
  const own = rows.filter((row) => !isPublished(row));
  const published = rows.filter(isPublished);
  const tables = Map.groupBy(own.length > 0 ? own : published, placeOf);
  return [...tables.values()].map((table) => {
    if (own.length === 0) return pivot(table, options);
    const points = new Set(table.map(pointOf));
    const beside = published.filter((row) => points.has(pointOf(row)));
    return pivot([...table, ...beside], options);
  });
}

/** The contender called `name`, or `name` without the run where there is one run only. */
export function contenderNamed(
  { contenders }: Pick<Pivot, "contenders">,
  name: string,
): Contender | undefined {
  return contenders.find((contender) => contender.name === name) ??
    contenders.find(({ kernel, run }) => `${kernel}@${run}` === name);
}

/** The published rows of `rows` that are in none of `tables`. */
export function leftOut(
  rows: readonly CsvRow[],
  tables: readonly Pivot[],
): CsvRow[] {
  const shown = new Set(
    tables.flatMap(({ shapes }) => shapes.flatMap((s) => [...s.rows.values()])),
  );
  return rows.filter((row) => !shown.has(row));
}

function pivot(rows: readonly CsvRow[], options: PivotOptions): Pivot {
  const { suite, device } = rows[0]!;
  const kinds = new Map<string, Omit<Contender, "name">>();
  for (const row of rows) kinds.set(kindOf(row), contenderOf(row));
  const count = Map.groupBy(kinds.values(), ({ kernel }) => kernel);
  const names = new Map(
    [...kinds].map(([kind, { kernel, run }]) => {
      const alone = run === "" || count.get(kernel)!.length === 1;
      return [kind, alone ? kernel : `${kernel}@${run}`] as const;
    }),
  );
  const contenders = [...kinds].map(([kind, contender]) => ({
    name: names.get(kind)!,
    ...contender,
  }));
  const own = contenders.filter(({ published }) => !published);
  const here = own.length > 0 ? own : contenders;
  const label = labelling(rows);
  const points = [...Map.groupBy(rows, pointOf).values()].toSorted(bySize);
  const isTimed = (name: string) =>
    rows.some((row) =>
      names.get(kindOf(row)) === name && soundTimeOf(row) !== undefined
    );
  const baseline = options.baselines(suite)
    .map((name) => contenderNamed({ contenders }, name)?.name)
    .find((name) => name !== undefined && isTimed(name));
  const shapes = points.map((at): PivotShape => {
    const byName = new Map(at.map((row) => [names.get(kindOf(row))!, row]));
    const time = (name: string) => soundTimeOf(byName.get(name));
    const order = here.map(({ name }) => name)
      .filter((name) => time(name) !== undefined)
      .toSorted((a, b) => time(a)! - time(b)!);
    return {
      label: label(at[0]!),
      rows: byName,
      best: order[0],
      rival: order.find((name) => name !== baseline),
    };
  });
  return { suite, device, contenders, shapes, baseline };
}

function contenderOf(row: CsvRow): Omit<Contender, "name"> {
  const { kernel, device, run } = row;
  const published = isPublished(row);
  return { kernel, device, run: published ? run : "", published };
}

function kindOf(row: CsvRow): string {
  const { kernel, backend, device } = row;
  const run = isPublished(row) ? row.run : "";
  return JSON.stringify([kernel, backend, device, run]);
}

function placeOf({ suite, device, arch }: CsvRow): string {
  return JSON.stringify([suite, device, arch]);
}

const POINT = KEY_COLUMNS.filter((column) =>
  column !== "suite" && column !== "kernel" && column !== "backend"
);

/** Points of the same size keep their order. */
function bySize([a]: readonly CsvRow[], [b]: readonly CsvRow[]): number {
  const sizes = (["m", "n", "k"] as const)
    .map((size) => Number(a![size]) - Number(b![size]));
  return sizes.find((difference) => difference !== 0) ?? 0;
}

/** What is computed: equal for rows that did the same work. */
function pointOf(row: CsvRow): string {
  return JSON.stringify(POINT.map((column) => row[column]));
}

/** How shapes are called: M×N×K, and what else differs between `rows`. */
function labelling(rows: readonly CsvRow[]): (row: CsvRow) => string {
  const sizes: readonly string[] = ["m", "n", "k"];
  const varying = POINT.filter((column) =>
    !sizes.includes(column) && new Set(rows.map((row) => row[column])).size > 1
  );
  return (row) =>
    [`${row.m}×${row.n}×${row.k}`, ...varying.map((column) => row[column])]
      .filter((part) => part !== "").join(" ");
}

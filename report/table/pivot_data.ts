/**
 * Tables as data for other programs.
 *
 * @module
 */

import { writeTable } from "../../bench/row/csv.ts";
import { isAboveSol, timeOf } from "../model/sol.ts";
import { type Pivot, speedup } from "../model/pivot.ts";
import { allWins, type Wins } from "../model/wins.ts";

const CELL_COLUMNS = [
  "suite",
  "on",
  "shape",
  "m",
  "n",
  "k",
  "kernel",
  "device",
  "published",
  "status",
  "time_us",
  "statistic",
  "best",
  "baseline",
  "speedup",
  "suspect",
] as const;
const WINS_COLUMNS = [
  "kernel",
  "against",
  "wins",
  "ties",
  "losses",
  "missing",
  "min",
  "median",
  "max",
  "geomean",
  "suspect",
] as const satisfies readonly (keyof Wins)[];

type Value = string | number | boolean | undefined;

/** Everything in `tables`, and the wins against each of `against`, as JSON. */
export function pivotsJson(
  tables: readonly Pivot[],
  against: (table: Pivot) => readonly string[],
): string {
  const content = tables.map((table) => ({
    suite: table.suite,
    device: table.device,
    baseline: table.baseline,
    kernels: table.contenders,
    cells: cells(table),
    wins: allWins(table, against(table)),
  }));
  return JSON.stringify(content, null, 2);
}

/** A line for each row in `tables`. */
export function pivotsCsv(tables: readonly Pivot[]): string {
  return csvOf(CELL_COLUMNS, tables.flatMap(cells));
}

/** A line for each pair of kernels: every one against each of `against`. */
export function winsCsv(
  tables: readonly Pivot[],
  against: (table: Pivot) => readonly string[],
): string {
  const lines = tables.flatMap((table) =>
    allWins(table, against(table)).map((wins) => ({
      suite: table.suite,
      on: table.device,
      ...wins,
    }))
  );
  return csvOf(["suite", "on", ...WINS_COLUMNS], lines);
}

function cells(
  table: Pivot,
): Readonly<Record<typeof CELL_COLUMNS[number], Value>>[] {
  const { suite, device: on, contenders, shapes, baseline } = table;
  return shapes.flatMap((shape) =>
    contenders.flatMap(({ name, device, published }) => {
      const row = shape.rows.get(name);
      if (row === undefined) return [];
      const us = timeOf(row);
      return [{
        suite,
        on,
        shape: shape.label,
        m: Number(row.m),
        n: Number(row.n),
        k: Number(row.k),
        kernel: name,
        device,
        published,
        status: row.status,
        time_us: us,
        statistic: us === undefined
          ? undefined
          : row.median_us === ""
          ? "mean"
          : "median",
        best: shape.best === name,
        baseline,
        speedup: speedup(shape, name, baseline),
        suspect: isAboveSol(row),
      }];
    })
  );
}

function csvOf<C extends string>(
  columns: readonly C[],
  lines: readonly Readonly<Record<C, Value>>[],
): string {
  const text = (value: Value) => value === undefined ? "" : `${value}`;
  const records = lines.map((line) => columns.map((c) => text(line[c])));
  return writeTable([[...columns], ...records]);
}

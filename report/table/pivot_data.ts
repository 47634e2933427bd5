/**
 * Writes tables as data for other programs.
 *
 * @module
 */

import { shownJson } from "../../bench/files/json_file.ts";
import { writeTable } from "../../bench/row/csv.ts";
import { SIZES } from "../model/axes.ts";
import { isSuspect, timeOf } from "../model/sol.ts";
import type { Pivot } from "../model/pivot.ts";
import { metricsOf } from "./metrics.ts";
import { allWins, type RowWins } from "../model/wins.ts";

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
  "noisy",
] as const satisfies readonly (keyof RowWins)[];

type Value = string | number | boolean | undefined;

/** Returns `tables`, and the wins against each of `against`, as JSON. */
export function pivotsJson(
  tables: readonly Pivot[],
  against: (table: Pivot) => readonly string[],
): string {
  const content = tables.map((table) => ({
    suite: table.suite,
    device: table.device,
    baseline: table.baseline,
    kernels: table.contenders,
    cells: cells(table, table.axes),
    wins: allWins(table, against(table)),
  }));
  return shownJson(content, 2);
}

/** Returns `tables`, at least one, as a CSV with a line for each row, and a column for each axis. */
export function pivotsCsv(tables: readonly Pivot[]): string {
  const axes = new Set(tables.flatMap((table) => table.axes));
  const lines = tables.flatMap((table) => cells(table, [...axes]));
  return csvOf(Object.keys(lines[0]!), lines);
}

/** Returns a CSV with a line for each pair of kernels: every one against each of `against`. */
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
  axes: readonly string[],
): Readonly<Record<string, Value>>[] {
  const { suite, device: on, contenders, shapes, baseline } = table;
  const metrics = metricsOf(table, ["tflops", "gbps", "sol", "speedup"]);
  const others = axes.filter((name) => !SIZES.some((size) => size === name));
  return shapes.flatMap((shape) =>
    contenders.flatMap(({ name, device, published }) => {
      const { label, point, rows, best } = shape;
      const row = rows.get(name);
      if (row === undefined) return [];
      const us = timeOf(row);
      return [{
        suite,
        on,
        shape: label,
        ...Object.fromEntries(SIZES.map((size) => [size, Number(row[size])])),
        ...Object.fromEntries(others.map((axis) => [axis, point[axis]])),
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
        best: best === name,
        baseline,
        ...Object.fromEntries(
          metrics.map((one) => [one.name, one.valueOf(shape, name)]),
        ),
        suspect: isSuspect(row),
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

/**
 * Names the points of rows by the axes on which they differ.
 *
 * @module
 */

import { AXIS_COLUMNS } from "../../bench/model/problem.ts";
import { axesOf, type AxisColumns } from "../../bench/row/row.ts";

/** The columns that name the point of a row. */
type PointColumns = AxisColumns & { readonly op: string };

/** Values by axis, in the order of the columns and then of `params`. */
export type Point = Readonly<Record<string, string>>;

/** The sizes that every row has; they are written together, as `16×16×8192`. */
export const SIZES = ["m", "n", "k"] as const;

/** Returns the operation of a row and the values of its axes. */
export function pointOf(row: PointColumns): Point {
  return { op: row.op, ...axesOf(row) };
}

/** Returns the axes on which `points` differ, also those that only some have. */
export function varyingAxes(points: readonly Point[]): string[] {
  const names = new Set(points.flatMap((point) => Object.keys(point)));
  return [...names].filter((name) =>
    points.some((point) => point[name] !== points[0]![name])
  );
}

/**
 * Returns a point as text: its sizes, then its value on each axis of `names`.
 *
 * @example
 * ```ts
 * import { labelOf } from "./axes.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const types = { a_type: "f16", b_type: "f16", c_type: "f16", acc_type: "f32" };
 * const row = { op: "qmm", m: "1", n: "64", k: "128", layout: "nt", params: "bits=4", ...types };
 * strictEqual(labelOf(row, ["m", "layout", "bits"]), "1×64×128 nt bits=4");
 * ```
 */
export function labelOf(row: PointColumns, names: readonly string[]): string {
  const point = pointOf(row);
  const columns: Point = Object.fromEntries(
    AXIS_COLUMNS.map((column) => [column, row[column]]),
  );
  const sizes = SIZES.map((name) => columns[name]);
  const others = names.flatMap((name) => {
    const value = point[name];
    if (value === undefined || value === "") return [];
    if (columns[name] !== value) return [`${name}=${value}`];
    return SIZES.some((size) => size === name) ? [] : [value];
  });
  // Types mostly change together: each is named once.
  return [sizes.join("×"), ...new Set(others)].join(" ");
}

/** Orders points by the axes of `names` on which all values are numbers, in that order. */
export function byPoint(
  points: readonly Point[],
  names: readonly string[],
): (a: Point, b: Point) => number {
  const numeric = names.filter((name) =>
    points.every((point) => Number.isFinite(Number(point[name] ?? NaN)))
  );
  return (a, b) => {
    for (const name of numeric) {
      const difference = Number(a[name]) - Number(b[name]);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

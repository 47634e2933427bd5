/**
 * Arranges the points of rows for charts: the axis that curves run along, and a panel for each
 * value of the others. No axis is known by name.
 *
 * @module
 */

import { byPoint, type Point, varyingAxes } from "../model/axes.ts";

/** Items whose points differ in one axis alone, in ascending order of its values. */
export interface Panel<T> {
  /** The values of the other axes, such as `M=N=16`. */
  readonly label: string;
  readonly items: readonly T[];
}

/** Panels side by side. */
export interface Panels<T> {
  /** The axis of the curves; undefined if no two points differ in one numeric axis alone. */
  readonly axis: string | undefined;
  readonly panels: readonly Panel<T>[];
  /** All values of the axis, ascending. */
  readonly values: readonly string[];
}

/**
 * Arranges `items` along the numeric axis with the most values; of axes with equally many values,
 * along the one with the fewest panels. If there is no such axis, all items are in one panel.
 *
 * @example
 * ```ts
 * import { panelsOf } from "./panels.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const point = (m: string, k: string) => ({ point: { m, n: m, k } });
 * const items = [point("16", "1"), point("16", "2"), point("32", "1")];
 * const { axis, panels } = panelsOf(items);
 * deepStrictEqual([axis, ...panels.map(({ label }) => label)], ["k", "M=N=16", "M=N=32"]);
 * ```
 */
export function panelsOf<T extends { readonly point: Point }>(
  items: readonly T[],
): Panels<T> {
  const points = items.map(({ point }) => point);
  const varying = varyingAxes(points);
  const [best] = varying
    .filter((axis) => points.every((point) => isNumber(point[axis])))
    .map((axis) => {
      const others = varying.filter((other) => other !== axis);
      const groups = [
        ...Map.groupBy(
          items,
          ({ point }) => JSON.stringify(others.map((other) => point[other])),
        ).values(),
      ];
      const values = new Set(points.map((point) => point[axis]!));
      return { axis, others, groups, values };
    })
    .filter(({ groups }) => groups.length < items.length)
    .toSorted((a, b) =>
      b.values.size - a.values.size || a.groups.length - b.groups.length
    );
  if (best === undefined) {
    const panels = items.length === 0 ? [] : [{ label: "", items }];
    return { axis: undefined, panels, values: [] };
  }
  const { axis, others, groups, values } = best;
  const compare = byPoint(points, others);
  const names = others.length > 0
    ? others
    : Object.keys(points[0]!).filter((name) =>
      name !== axis && isNumber(points[0]![name])
    );
  const label = labelling(points, names);
  return {
    axis,
    panels: groups
      .toSorted(([a], [b]) => compare(a!.point, b!.point))
      .map((own) => ({
        label: label(own[0]!.point),
        items: own.toSorted((a, b) =>
          Number(a.point[axis]) - Number(b.point[axis])
        ),
      })),
    values: [...values].toSorted((a, b) => Number(a) - Number(b)),
  };
}

/** Returns the name of an axis as titles have it: `M`, but `group`. */
export function axisName(axis: string): string {
  return axis.length === 1 ? axis.toUpperCase() : axis;
}

/**
 * Returns the label of a point by `axes`. Axes that are equal in all `points` share one value:
 * `M=N=16`.
 */
function labelling(
  points: readonly Point[],
  axes: readonly string[],
): (point: Point) => string {
  const groups = Map.groupBy(
    axes,
    (axis) => JSON.stringify(points.map((point) => point[axis])),
  );
  return (point) =>
    [...groups.values()].filter(([axis]) => point[axis!] !== undefined)
      .map((same) => [...same.map(axisName), point[same[0]!]].join("="))
      .join(" ");
}

function isNumber(text: string | undefined): boolean {
  return text !== undefined && text !== "" && Number.isFinite(Number(text));
}

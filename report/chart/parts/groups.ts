/**
 * Shapes in groups that differ in one size alone, the one that curves run along.
 *
 * @module
 */

import type { PlotData, Shape } from "./data.ts";

/** The size that curves run along. */
export type Axis = "m" | "n" | "k";

/** Shapes that differ in one size alone, ascending in it. */
export interface Group {
  /** What they have in common, such as `M=N=16`. */
  readonly label: string;
  /** The same for the name of a file: `mn16`. */
  readonly slug: string;
  readonly shapes: readonly Shape[];
}

/** How the shapes of a suite are arranged. */
export interface Sweep {
  readonly axis: Axis;
  readonly groups: readonly Group[];
  /** Every value of the axis, ascending. */
  readonly values: readonly number[];
}

/** The fewest groups that `data`'s shapes can be put into; along K where that is equal. */
export function sweepOf({ shapes }: Pick<PlotData, "shapes">): Sweep {
  const sweeps = (["k", "m", "n"] as const).map((axis) => {
    const others = (["m", "n", "k"] as const).filter((size) => size !== axis);
    const groups = Map.groupBy(
      shapes,
      (shape) =>
        JSON.stringify([...others.map((size) => shape[size]), shape.extra]),
    );
    return { axis, others, groups: [...groups.values()] };
  });
  const fewest = Math.min(...sweeps.map(({ groups }) => groups.length));
  const { axis, others, groups } = sweeps.find(({ groups }) =>
    groups.length === fewest
  )!;
  return {
    axis,
    groups: groups.map((group) => ({
      label: labelOf(group[0]!, others),
      slug: slugOf(group[0]!, others),
      shapes: group.toSorted((a, b) => a[axis] - b[axis]),
    })),
    values: [...new Set(shapes.map((shape) => shape[axis]))]
      .toSorted((a, b) => a - b),
  };
}

function labelOf(shape: Shape, sizes: readonly Axis[]): string {
  const square = sizes.includes("m") && sizes.includes("n") &&
    shape.m === shape.n;
  const label = square
    ? `M=N=${shape.m}`
    : sizes.map((size) => `${size.toUpperCase()}=${shape[size]}`).join(" ");
  return shape.extra === "" ? label : `${label} ${shape.extra}`;
}

function slugOf(shape: Shape, sizes: readonly Axis[]): string {
  const square = sizes.includes("m") && sizes.includes("n") &&
    shape.m === shape.n;
  const name = square
    ? `mn${shape.m}`
    : sizes.map((size) => `${size}${shape[size]}`).join("-");
  return `${name} ${shape.extra}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "");
}

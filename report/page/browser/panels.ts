/**
 * Entries of one family as panels of curves: latency over the axis that varies most.
 *
 * @module
 */

import { isTimed } from "./compare.ts";
import type { Entry } from "./entry.ts";

/** A size that varies. */
export type Axis = "m" | "n" | "k";

/** The times of a kernel over an axis, in its order. */
export interface Curve {
  readonly kernel: string;
  readonly points: readonly Entry[];
}

/** Curves at the same other sizes. */
export interface Panel {
  readonly label: string;
  readonly curves: readonly Curve[];
  /** The sizes of the axis, ascending. */
  readonly sizes: readonly number[];
}

/** Panels over an axis. */
export interface Panels {
  readonly axis: Axis;
  readonly panels: readonly Panel[];
}

/** K where it varies: it is what sweeps are about; else the axis with most sizes. */
export function panelsOf(entries: readonly Entry[]): Panels {
  const timed = entries.filter(isTimed);
  const many = (axis: Axis) => new Set(timed.map((e) => e[axis])).size;
  const axis = many("k") > 1 ? "k" : many("m") >= many("n") ? "m" : "n";
  const rest = (["m", "n", "k"] as const).filter((other) => other !== axis);
  const groups = Map.groupBy(
    timed,
    (e) => rest.map((other) => e[other]).join("|"),
  );
  const panels = [...groups.values()]
    .toSorted(([a], [b]) =>
      a![rest[0]!] - b![rest[0]!] || a![rest[1]!] - b![rest[1]!]
    )
    .map((own): Panel => ({
      label: labelOf(own[0]!, rest),
      sizes: [...new Set(own.map((e) => e[axis]))].toSorted((a, b) => a - b),
      curves: [...Map.groupBy(own, ({ kernel }) => kernel)].map((
        [kernel, points],
      ) => ({
        kernel,
        points: points.toSorted((a, b) => a[axis] - b[axis]),
      })),
    }));
  return { axis, panels };
}

function labelOf(entry: Entry, rest: readonly Axis[]): string {
  const [first, second] = rest;
  if (first === undefined || second === undefined) return "";
  const [a, b] = [entry[first], entry[second]];
  return a === b
    ? `${first.toUpperCase()} = ${second.toUpperCase()} = ${a}`
    : `${first.toUpperCase()} = ${a}, ${second.toUpperCase()} = ${b}`;
}

/**
 * Names of lines among points, where they cover the fewest.
 *
 * @module
 */

import type { Paper, Place } from "../canvas/paper.ts";

const STYLE = { size: 11 } as const;
/** From a line to the middle of its name, CSS pixels. */
const AWAY = 10;
/** Half of what a name takes in height, with a point's radius around it. */
const REACH = 9.5;
const STEP = 4;

/** Where a name may stand. */
export interface LabelOptions {
  /** The line, on the paper, from left to right. */
  readonly along: readonly Place[];
  /** What is not to be covered. */
  readonly taken: readonly Place[];
}

/**
 * Writes `text` above or below a line: of places that cover equally few points the one
 * furthest to the right, above before below.
 *
 * @returns What it covers, as places that are taken now.
 */
export function label(
  paper: Paper,
  text: string,
  { along, taken }: LabelOptions,
): readonly Place[] {
  const width = paper.widthOf(text, STYLE);
  const [x, y] = spotOf(width, { along, taken: [...taken, ...dense(along)] });
  paper.text(text, [x, y], { ...STYLE, color: paper.theme.dim });
  return dense([[x, y], [x + width, y]]);
}

/**
 * The left end of a name `width` wide, in the middle of its height.
 *
 * @example
 * ```ts
 * import { spotOf } from "./label.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const along = [[0, 50], [200, 50]] as const;
 * deepStrictEqual(spotOf(80, { along, taken: [] }), [116, 40]);
 * deepStrictEqual(spotOf(80, { along, taken: [[150, 40]] }), [116, 60]);
 * ```
 */
export function spotOf(
  width: number,
  { along, taken }: LabelOptions,
): Place {
  const [left, right] = [along[0]![0], along.at(-1)![0]];
  let best: { place: Place; hits: number } | undefined;
  const last = right - 4 - width;
  // A line shorter than its name: the name ends where the line does.
  for (let x = last; x >= Math.min(left + 4, last); x -= STEP) {
    const under = dense(along)
      .filter(([at]) => at >= x - STEP && at <= x + width + 2 * STEP)
      .map(([, y]) => y);
    for (
      const y of [
        Math.min(...under) - AWAY,
        Math.max(...under) + AWAY,
      ]
    ) {
      const hits = taken.filter(([px, py]) =>
        px > x - 5 && px < x + width + 5 && Math.abs(py - y) < REACH
      ).length;
      if (best === undefined || hits < best.hits) {
        best = { place: [x, y], hits };
      }
    }
    if (best?.hits === 0) break;
  }
  return best!.place;
}

/** Places along a line, near enough to each other to stand for it. */
function dense(places: readonly Place[]): Place[] {
  return places.flatMap(([x, y], i): Place[] => {
    const [toX, toY] = places[i + 1] ?? [x, y];
    const count = Math.max(1, Math.ceil(Math.abs(toX - x) / STEP));
    return Array.from({ length: count }, (_, at): Place => [
      x + (toX - x) * at / count,
      y + (toY - y) * at / count,
    ]);
  });
}

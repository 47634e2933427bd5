/**
 * Compares the best of the user's kernels, or of our own, with the best of others.
 *
 * @module
 */

import type { Contender, Pivot, PivotShape } from "../model/pivot.ts";
import { soundTimeOf } from "../model/sol.ts";
import { factorMetric } from "./metrics.ts";
import type { Cell } from "./sheet.ts";

/** A column: a head, a cell at each shape, and their mean. */
export interface Column {
  readonly head: string;
  cellOf(shape: PivotShape): Cell;
  meanOf(shapes: readonly PivotShape[]): Cell;
}

/**
 * Returns how much faster the best of some kernels is than the best of others at each shape:
 *
 * - the user's kernels `mine` than all others, where both are there;
 * - our own than the peers, where both are there;
 * - else the fastest than the baseline.
 *
 * @param mine Where there are some and none has a time, nothing is compared.
 */
export function leadOf(
  { contenders, shapes, baseline }: Pivot,
  mine: readonly Contender[],
): Column | undefined {
  const measured = contenders.filter(({ published }) => !published);
  const all = (measured.length > 0 ? measured : contenders).filter(({ name }) =>
    shapes.some(({ rows }) => soundTimeOf(rows.get(name)) !== undefined)
  );
  const others = all.filter((one) => !mine.includes(one));
  const peers = all.filter(({ peer }) => peer);
  const [title, rivals] = mine.length > 0 && others.length > 0
    ? [`${mine.length === 1 ? mine[0]!.name : "own"} vs best other`, others]
    : peers.length > 0 && peers.length < all.length
    ? ["ours vs best peer", peers]
    : [`fastest vs ${baseline}`, all.filter(({ name }) => name === baseline)];
  const own = all.filter((one) => !rivals.includes(one));
  if (own.length === 0 || rivals.length === 0) return undefined;
  const { head, cellOf, meanOf } = factorMetric(
    title,
    (shape) => [fastest(shape, own), fastest(shape, rivals)],
  );
  return {
    head,
    cellOf: (shape) => cellOf(shape, ""),
    meanOf: (shapes) => meanOf(shapes, ""),
  };
}

function fastest(
  { rows }: PivotShape,
  of: readonly Contender[],
): string | undefined {
  const time = ({ name }: Contender) => soundTimeOf(rows.get(name)) ?? Infinity;
  return of.toSorted((a, b) => time(a) - time(b))[0]?.name;
}

/**
 * Compares the best of our own kernels with the best peer.
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
 * Returns how much faster the best of our own kernels is than the best peer at each shape; where
 * there are not both of them, the fastest kernel than the baseline.
 */
export function leadOf(
  { contenders, shapes, baseline }: Pivot,
): Column | undefined {
  const measured = contenders.filter(({ published }) => !published);
  const all = (measured.length > 0 ? measured : contenders).filter(({ name }) =>
    shapes.some(({ rows }) => soundTimeOf(rows.get(name)) !== undefined)
  );
  const peers = all.filter(({ peer }) => peer);
  const isMixed = peers.length > 0 && peers.length < all.length;
  const rivals = isMixed ? peers : all.filter(({ name }) => name === baseline);
  const own = all.filter((one) => !rivals.includes(one));
  if (own.length === 0 || rivals.length === 0) return undefined;
  const { head, cellOf, meanOf } = factorMetric(
    isMixed ? "ours vs best peer" : `fastest vs ${baseline}`,
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

/**
 * Ranks the kernels of a table, and compares the best of ours with the best peer.
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

/** Returns whether a contender has a time, or failed where it should have one. */
export function isShown({ shapes }: Pivot, { name }: Contender): boolean {
  return shapes.some(({ rows }) => {
    const status = rows.get(name)?.status;
    return status !== undefined && status !== "unsupported";
  });
}

/**
 * Returns the contenders that ran: the baseline, peers, our own and published ones. In each group
 * those come first that are the fastest of it at most shapes, then those that are nearest to it.
 */
export function ranked(table: Pivot): readonly (readonly Contender[])[] {
  const { contenders, shapes, baseline } = table;
  const shown = contenders.filter((one) => isShown(table, one));
  const others = shown.filter(({ name }) => name !== baseline);
  const sorted = (group: readonly Contender[]) => {
    const names = group.map(({ name }) => name);
    const scores = new Map(names.map((name) => [name, 0]));
    for (const { rows } of shapes) {
      const times = names.map((name) =>
        [name, soundTimeOf(rows.get(name))] as const
      );
      const least = Math.min(...times.map(([, us = Infinity]) => us));
      for (const [name, us = Infinity] of times) {
        // A win counts for more than all that is less than one.
        const score = us === least ? 1 + shapes.length : least / us;
        scores.set(name, scores.get(name)! + score);
      }
    }
    return group.toSorted((a, b) => scores.get(b.name)! - scores.get(a.name)!);
  };
  return [
    shown.filter(({ name }) => name === baseline),
    sorted(others.filter(({ peer }) => peer)),
    sorted(others.filter(({ peer, published }) => !peer && !published)),
    sorted(others.filter(({ published }) => published)),
  ];
}

/** Returns the baseline, then in turns one of our own, a peer and a published one. */
export function inTurns(
  [baseline = [], peers = [], own = [], published = []]:
    readonly (readonly Contender[])[],
): Contender[] {
  const most = Math.max(peers.length, own.length, published.length);
  const turns = Array.from(
    { length: most },
    (_, i) => [own, peers, published].flatMap((group) => group.slice(i, i + 1)),
  );
  return [...baseline, ...turns.flat()];
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

/**
 * Ranks the kernels of a table: those that tables and charts have room for come first.
 *
 * @module
 */

import type { Contender, Pivot } from "./pivot.ts";
import { soundTimeOf } from "./sol.ts";

/** Curves of a panel: more would not be told apart. */
const MOST_CURVES = 8;

/** Returns the names of those that a chart of curves has room for: see {@linkcode inTurns}. */
export function mainOf(table: Pivot): readonly string[] {
  return inTurns(ranked(table)).slice(0, MOST_CURVES)
    .map(({ name }) => name);
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

/**
 * Compares kernels with a baseline, by the model's rules.
 *
 * @module
 */

import { geomean } from "../../../bench/measure/stats.ts";
import { contenderNamed, speedup } from "../../model/pivot.ts";
import { type Wins, winsOf } from "../../model/wins.ts";
import { type Book, type Entry, isFailed, isTimed } from "./book.ts";

/** Returns the kernel that speed-ups are relative to; undefined where none has a time. */
export type Baseline = (pivot: Entry["pivot"]) => string | undefined;

/**
 * Chooses a baseline for each pivot of `entries`, all there are, also those that a filter
 * hides: the first of those that `prefer` returns for its suite that has a time there.
 */
export function baselinesOf(
  { entries }: Pick<Book, "entries">,
  prefer: (suite: string) => readonly string[],
): Baseline {
  const chosen = new Map<Entry["pivot"], string | undefined>();
  for (
    const [pivot, own] of Map.groupBy(entries.filter(isTimed), (e) => e.pivot)
  ) {
    const timed = new Set(own.map(({ kernel }) => kernel));
    const names = prefer(pivot.suite)
      .map((name) => contenderNamed(pivot, name)?.name);
    chosen.set(
      pivot,
      names.find((name) => name !== undefined && timed.has(name)),
    );
  }
  return (pivot) => chosen.get(pivot);
}

/** Returns how many times as fast as the baseline an entry is. */
export function speedupOf(
  { shape, kernel, pivot }: Entry,
  baseline: Baseline,
): number | undefined {
  return speedup(shape, kernel, baseline(pivot));
}

/** The rows of a kernel against the baseline. */
export interface Standing extends Wins {
  readonly failed: number;
  /** Shapes at which no shown kernel is faster. */
  readonly fastest: number;
}

/** Returns the standing of each kernel in `entries` of one pivot, the fastest first. */
export function standings(
  entries: readonly Entry[],
  baseline: Baseline,
): Standing[] {
  const best = leastOf(entries);
  return [...Map.groupBy(entries, ({ kernel }) => kernel)].map(
    ([kernel, own]): Standing => {
      const { pivot } = own[0]!;
      const shapes = own.map(({ shape }) => shape);
      return {
        ...winsOf({ shapes }, kernel, baseline(pivot) ?? ""),
        failed: own.filter(isFailed).length,
        fastest:
          own.filter((entry) =>
            isTimed(entry) && best.get(entry.shape) === entry.median
          ).length,
      };
    },
  ).toSorted((a, b) => (b.geomean ?? -1) - (a.geomean ?? -1));
}

/** Returns the least time at each shape, in microseconds. */
export function leastOf(
  entries: readonly Entry[],
): Map<Entry["shape"], number> {
  const least = new Map<Entry["shape"], number>();
  for (const entry of entries) {
    if (!isTimed(entry)) continue;
    const known = least.get(entry.shape) ?? Infinity;
    least.set(entry.shape, Math.min(known, entry.median));
  }
  return least;
}

/** The kernel that is ahead. */
export interface Best {
  readonly kernel: string;
  /** The geometric mean of its speed-ups. */
  readonly mean: number;
  /** The shapes that it is over. */
  readonly over: number;
}

/** A mean over fewer of the shapes than this is not set against the others. */
const ENOUGH = 0.9;

/** Returns the kernel with the greatest geomean among those compared at nearly all shapes. */
function bestOf(
  entries: readonly Entry[],
  baseline: Baseline,
): Best | undefined {
  const others = entries.filter(({ kernel, pivot }) =>
    baseline(pivot) !== kernel
  );
  const means = [...Map.groupBy(others, ({ kernel }) => kernel)]
    .map(([kernel, own]) => {
      const ratios = own.map((entry) => speedupOf(entry, baseline))
        .filter((ratio) => ratio !== undefined);
      return { kernel, mean: geomean(ratios), over: ratios.length };
    });
  const most = Math.max(0, ...means.map(({ over }) => over));
  return means
    .filter((m): m is Best => m.mean !== undefined && m.over >= ENOUGH * most)
    .toSorted((a, b) => b.mean - a.mean)[0];
}

/** The fastest of some kernels against the fastest of others. */
export interface SideComparison {
  readonly own: readonly string[];
  readonly others: readonly string[];
  /** Times as fast, at each shape where both sides have a time; at least one. */
  readonly factors: readonly number[];
}

/**
 * Sets the kernels in `entries` of one pivot against those of them that are `rivals`; where
 * all are, the best of them and the baseline, the faster one first.
 */
export function compareSides(
  entries: readonly Entry[],
  baseline: Baseline,
  rivals: readonly string[],
): SideComparison | undefined {
  const timed = entries.filter(isTimed);
  const names = [...new Set(timed.map(({ kernel }) => kernel))];
  let others = names.filter((name) => rivals.includes(name));
  let own = names.filter((name) => !rivals.includes(name));
  const best = own.length === 0 ? bestOf(entries, baseline) : undefined;
  if (best) {
    const sides = [best.kernel, baseline(entries[0]!.pivot)!];
    // The faster one is what such a suite shows.
    const [first, second] = best.mean < 1 ? sides.toReversed() : sides;
    [own, others] = [[first!], [second!]];
  }
  const sides = [own, others].map((side) =>
    leastOf(timed.filter(({ kernel }) => side.includes(kernel)))
  );
  const factors = [...sides[0]!].flatMap(([shape, us]) => {
    const other = sides[1]!.get(shape);
    return other === undefined ? [] : [other / us];
  });
  return factors.length === 0 ? undefined : { own, others, factors };
}

/**
 * Shapes down, kernels across.
 *
 * @module
 */

import { fastest, isTimed } from "./compare.ts";
import type { Entry } from "./entry.ts";

/** The cases of one problem. */
export interface PivotRow {
  readonly first: Entry;
  readonly cells: ReadonlyMap<string, Entry>;
  /** Microseconds of the fastest shown kernel. */
  readonly best: number | undefined;
}

/** What the rows of a pivot are sorted by. */
export interface PivotOrder {
  /** Empty or `shape` for the order of sizes, `best`, or a kernel for its median. */
  readonly sort: string;
  readonly descending: boolean;
}

/** `entries` by problem. */
export function pivotOf(
  entries: readonly Entry[],
  { sort, descending }: PivotOrder,
): PivotRow[] {
  const least = fastest(entries);
  const rows = [...Map.groupBy(entries, ({ problem }) => problem)].map(
    ([problem, own]): PivotRow => ({
      first: own[0]!,
      cells: new Map(own.map((entry) => [entry.kernel, entry])),
      best: least.get(problem),
    }),
  );
  const value = ({ best, cells }: PivotRow): number | undefined => {
    if (sort === "best") return best;
    const entry = cells.get(sort);
    return entry && isTimed(entry) ? entry.median : undefined;
  };
  const order = sort === "" || sort === "shape"
    ? byShape
    : (a: PivotRow, b: PivotRow) => inOrder(value(a), value(b), descending);
  const sorted = rows.toSorted(order);
  return order === byShape && descending ? sorted.reverse() : sorted;
}

/** Ascending or descending; what has no value comes last either way. */
export function inOrder(
  a: string | number | undefined,
  b: string | number | undefined,
  descending: boolean,
): number {
  if (a === undefined || b === undefined) {
    return Number(a === undefined) - Number(b === undefined);
  }
  if (a === b) return 0;
  return (a < b) === descending ? 1 : -1;
}

function byShape({ first: a }: PivotRow, { first: b }: PivotRow): number {
  return compareText(a.suite, b.suite) || compareText(a.device, b.device) ||
    compareText(a.extra, b.extra) || a.m - b.m || a.n - b.n || a.k - b.k;
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * Two sets of rows compared: verdicts, their counts, and the mean change.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { causesOf } from "./causes.ts";
import type { Pair, Placed } from "./join.ts";
import { isAboveSol } from "../model/sol.ts";
import { type Judged, type Verdict, VERDICTS } from "./verdict.ts";

/** The geometric mean of how much longer the new rows take. */
export interface Mean {
  /** Empty for all suites together. */
  readonly suite: string;
  /** Pairs in it: those timed on both sides that may be compared, and not suspect. */
  readonly n: number;
  /** Pairs left out as a row of them is above SOL. */
  readonly suspect: number;
  /** All pairs, also those of one row. */
  readonly of: number;
  /** Relative: 0.05 is 5 % slower; none without such a pair. */
  readonly change: number | undefined;
}

/** What a comparison found. */
export interface Diff<R extends Placed = Placed> {
  /** Every pair, the worst first. */
  readonly judged: readonly Judged<R>[];
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Of each suite, and of all where there are several. */
  readonly means: readonly Mean[];
}

/** How a comparison is shown. */
export interface ShowOptions {
  /** The verdicts of the rows that are listed. */
  readonly only: readonly Verdict[];
  /** The verdicts that make it fail. */
  readonly failOn: readonly Verdict[];
  /** Whether what is missing of a suite on a device that NEW has no row of is one line. */
  readonly fold: boolean;
}

/**
 * Sorts and counts `all`. Pairs of the same verdict and change keep their order; what
 * BASE could not run, and NEW has no row of, is the same: nothing is lost with it.
 */
export function summarizeDiff<R extends Placed>(
  all: readonly Judged<R>[],
): Diff<R> {
  const judged = all.map(settled);
  const groups = Map.groupBy(judged, ({ verdict }) => verdict);
  const counts = VERDICTS.map((v) => [v, groups.get(v)?.length ?? 0] as const);
  const suites = Map.groupBy(judged, ({ pair }) => rowOf(pair).suite);
  const means = [...suites].map(([suite, own]) => meanOf(suite, own));
  return {
    judged: VERDICTS.flatMap((verdict) =>
      (groups.get(verdict) ?? []).toSorted((a, b) => severity(b) - severity(a))
    ),
    counts: Object.fromEntries(counts) as Record<Verdict, number>,
    means: means.length === 1 ? means : [...means, meanOf("", judged)],
  };
}

/** Whether `judged` is a reason to fail, by its verdict or what it hides. */
export function failsOn(
  { verdict, also }: Judged,
  failOn: readonly Verdict[],
): boolean {
  return failOn.includes(verdict) ||
    (also !== undefined && failOn.includes(also));
}

/** The rows of `diff` that are listed. */
export function listed<R extends Placed>(
  { judged }: Diff<R>,
  { only }: ShowOptions,
): readonly Judged<R>[] {
  return judged.filter(({ verdict, also }) =>
    only.includes(verdict) || (also !== undefined && only.includes(also))
  );
}

/** Either row of `pair`. */
export function rowOf({ base, next }: Pair<Placed>): CsvRow {
  return (next ?? base)!.row;
}

/** What else differs between the rows of `pair`, the likeliest cause first. */
export function causesOfPair({ base, next }: Pair<Placed>): readonly string[] {
  return base && next ? causesOf(base.row, next.row) : [];
}

/** A case for people: what tells it from others, without what all have. */
export function titleOf(
  { suite, kernel, m, n, k, layout, params }: CsvRow,
): string {
  return [suite, kernel, `${m}×${n}×${k}`, layout, params]
    .filter((part) => part !== "").join(" ");
}

/** A relative change as text: `+5.2 %`. */
export function formatChange(change: number): string {
  return `${change < 0 ? "" : "+"}${(100 * change).toFixed(1)} %`;
}

/** The counts of every verdict, the worst first: `1 slower, 2 new`. */
export function formatCounts({ counts }: Diff): string {
  return VERDICTS.map((verdict) => `${counts[verdict]} ${verdict}`).join(", ");
}

/** A mean, and of what. */
export function formatMean({ suite, n, suspect, of, change }: Mean): string {
  const name = suite === "" ? "all suites" : suite;
  const without = suspect === 0 ? "" : `; ${suspect} above SOL left out`;
  return change === undefined
    ? `${name}: no mean, as none of ${of} cases is timed and comparable in both${without}`
    : `${name}: geomean ${
      formatChange(change)
    } in time, over the ${n} of ${of} cases timed and comparable in both${without}`;
}

function settled<R extends Placed>(one: Judged<R>): Judged<R> {
  const isLost = one.verdict !== "missing" ||
    one.pair.base?.row.status !== "unsupported";
  return isLost
    ? one
    : { ...one, verdict: "same", why: `${one.why}; no row of it in NEW` };
}

function severity({ speed }: Judged): number {
  return speed?.change ?? 0;
}

function meanOf(suite: string, judged: readonly Judged[]): Mean {
  let n = 0;
  let suspect = 0;
  let logs = 0;
  for (const { speed, pair: { base, next } } of judged) {
    if (speed === undefined) continue;
    // Not by the verdict: one that is worse may hide it.
    if (isAboveSol(base!.row) || isAboveSol(next!.row)) {
      suspect++;
      continue;
    }
    n++;
    logs += Math.log1p(speed.change);
  }
  const change = n === 0 ? undefined : Math.expm1(logs / n);
  return { suite, n, suspect, of: judged.length, change };
}

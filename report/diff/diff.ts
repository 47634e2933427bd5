/**
 * Summarizes the verdicts on two sets of rows: their counts, and the mean change.
 *
 * @module
 */

import { geomean } from "../../bench/measure/stats.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { axesOf } from "../../bench/row/row.ts";
import { timingOf } from "../model/timing.ts";
import { labelOf } from "../model/axes.ts";
import type { Pair } from "./join.ts";
import { type Judged, type Verdict, VERDICTS } from "./verdict.ts";

/** The geometric mean of how much longer the new rows take. */
interface Mean {
  /** Empty for all suites together. */
  readonly suite: string;
  /** Pairs in the mean: timed on both sides, comparable and not suspect. */
  readonly n: number;
  /** Pairs left out because a row is suspect. */
  readonly suspect: number;
  /** The number of pairs, including those of one row. */
  readonly of: number;
  /** Relative: 0.05 is 5 % slower; undefined without such a pair. */
  readonly change: number | undefined;
}

/** The result of a comparison. */
export interface Diff {
  /** Every pair, the worst first. */
  readonly judged: readonly Judged[];
  readonly counts: Readonly<Record<Verdict, number>>;
  /** One for each suite, and one for all where there are several. */
  readonly means: readonly Mean[];
}

/** The rows that are listed, and those that fail. */
export interface ShowOptions {
  /** The verdicts of the rows that are listed. */
  readonly only: readonly Verdict[];
  /** The verdicts that make it fail. */
  readonly failOn: readonly Verdict[];
  /** Lists a suite that NEW lacks on a device, and a kernel that BASE lacks, as one line. */
  readonly fold: boolean;
}

/**
 * Counts `all` and sorts them, the worst first; those that are `same` keep their order. A case
 * that BASE could not run and NEW lacks is `same`: nothing is lost.
 */
export function summarizeDiff(
  all: readonly Judged[],
): Diff {
  const judged = all.map(settled);
  const groups = Map.groupBy(judged, ({ verdict }) => verdict);
  const counts = VERDICTS.map((v) => [v, groups.get(v)?.length ?? 0] as const);
  const suites = Map.groupBy(judged, ({ pair }) => rowOf(pair).suite);
  // Of a suite that only one side has, "new" or "missing" says why there is no mean.
  const means = [...suites].filter(([, own]) =>
    suites.size === 1 || own.some(({ pair }) => pair.base && pair.next)
  ).map(([suite, own]) => meanOf(suite, own));
  return {
    judged: VERDICTS.flatMap((verdict) => {
      const own = groups.get(verdict) ?? [];
      return verdict === "same"
        ? own
        : own.toSorted((a, b) => severity(b) - severity(a));
    }),
    counts: Object.fromEntries(counts) as Record<Verdict, number>,
    means: suites.size === 1 ? means : [...means, meanOf("", judged)],
  };
}

/** Returns whether a verdict, or the one that it hides, is among `failOn`. */
export function failsOn(
  { verdict, also }: Judged,
  failOn: readonly Verdict[],
): boolean {
  return failOn.includes(verdict) ||
    (also !== undefined && failOn.includes(also));
}

/** Returns the rows of `diff` that are listed. */
export function listed(
  { judged }: Diff,
  { only }: ShowOptions,
): readonly Judged[] {
  return judged.filter(({ verdict, also }) =>
    only.includes(verdict) || (also !== undefined && only.includes(also))
  );
}

/** Returns either row of `pair`, the new one if there is one. */
export function rowOf({ base, next }: Pair): CsvRow {
  return (next ?? base)!.row;
}

/** Returns the name of a row: suite, kernel, the values of its axes, a timer but do_bench. */
export function titleOf(row: CsvRow): string {
  const label = labelOf(row, Object.keys(axesOf(row)));
  const timing = timingOf(row);
  const by = timing === DEFAULTS.timer || timing === "" ? "" : ` by ${timing}`;
  return `${row.suite} ${row.kernel} ${label}${by}`;
}

/** Formats a relative change: `+5.2 %`. */
export function formatChange(change: number): string {
  return `${change < 0 ? "" : "+"}${(100 * change).toFixed(1)} %`;
}

/** Formats the counts of all verdicts, the worst first: `1 slower, 2 new`. */
export function formatCounts({ counts }: Diff): string {
  return VERDICTS.map((verdict) => `${counts[verdict]} ${verdict}`).join(", ");
}

/** Formats a mean, and the cases that it is over. */
export function formatMean({ suite, n, suspect, of, change }: Mean): string {
  const name = suite === "" ? "all suites" : suite;
  const without = suspect === 0 ? "" : `; ${suspect} suspect left out`;
  return change === undefined
    ? `${name}: no mean, as none of ${of} cases is timed and comparable in both${without}`
    : `${name}: geomean ${
      formatChange(change)
    } in time, over the ${n} of ${of} cases timed and comparable in both${without}`;
}

/** The rows that are listed one by one, and a line for each group of others. */
interface Folded {
  readonly rows: readonly Judged[];
  /** `233 missing in suite on device: no row of it in NEW`. */
  readonly missing: readonly string[];
  /** `28 new of kernel in suite on device: no row of it in BASE`. */
  readonly added: readonly string[];
}

/**
 * Returns the listed rows of `diff`. With `fold`, the missing rows of a suite on a device are one
 * line where NEW has no row of that suite on that device, and the new rows of a kernel where BASE
 * has none of that kernel there.
 */
export function folded(diff: Diff, show: ShowOptions): Folded {
  const rows = listed(diff, show);
  const isLone = rows.some(({ verdict }) =>
    verdict === "missing" || verdict === "new"
  );
  if (!show.fold || !isLone) return { rows, missing: [], added: [] };
  const known = {
    next: new Set(
      diff.judged.flatMap(({ pair: { next } }) =>
        next ? [placeOf(next.row)] : []
      ),
    ),
    base: new Set(
      diff.judged.flatMap(({ pair: { base } }) =>
        base ? [kernelOf(base.row)] : []
      ),
    ),
  };
  const absent = rows.filter(({ verdict, pair: { base } }) =>
    verdict === "missing" && !known.next.has(placeOf(base!.row))
  );
  const fresh = rows.filter(({ verdict, pair: { next } }) =>
    verdict === "new" && !known.base.has(kernelOf(next!.row))
  );
  const kernels = [
    ...Map.groupBy(fresh, ({ pair }) => kernelOf(pair.next!.row)).values(),
  ].filter((own) => own.length > 1);
  const gone = new Set([...absent, ...kernels.flat()]);
  return {
    rows: rows.filter((one) => !gone.has(one)),
    missing: [
      ...Map.groupBy(absent, ({ pair }) => placeOf(pair.base!.row)).values(),
    ].map((own) => {
      const { suite, device } = rowOf(own[0]!.pair);
      return `${own.length} missing in ${suite} on ${device}: no row of it in NEW`;
    }),
    added: kernels.map((own) => {
      const { kernel, suite, device } = rowOf(own[0]!.pair);
      return `${own.length} new of ${kernel} in ${suite} on ${device}: no row of it in BASE`;
    }),
  };
}

function settled(one: Judged): Judged {
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
  const timed = judged.flatMap(({ speed }) => speed ?? []);
  const sound = timed.filter(({ suspect }) => !suspect);
  const ratio = geomean(sound.map(({ change }) => 1 + change));
  return {
    suite,
    n: sound.length,
    suspect: timed.length - sound.length,
    of: judged.length,
    change: ratio === undefined ? undefined : ratio - 1,
  };
}

function placeOf({ suite, device }: CsvRow): string {
  return JSON.stringify([suite, device]);
}

function kernelOf(row: CsvRow): string {
  return JSON.stringify([placeOf(row), row.kernel]);
}

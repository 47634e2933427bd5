/**
 * What became of a case: one verdict for each pair of rows.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { mismatchOf } from "./causes.ts";
import type { Interval } from "./interval.ts";
import type { Pair, Placed } from "./join.ts";
import { isAboveSol } from "../model/sol.ts";
import type { Threshold } from "./thresholds.ts";

/** What can be said of a pair, the worst first. */
export const VERDICTS = [
  "broken",
  "less-accurate",
  "missing",
  "incomparable",
  "slower",
  "suspect",
  "unclear",
  "new",
  "fixed",
  "faster",
  "same",
] as const;

/** One of {@linkcode VERDICTS}. */
export type Verdict = typeof VERDICTS[number];

/** The durations of two timed rows that may be compared. */
export interface Speed {
  readonly base_us: number;
  readonly next_us: number;
  /** `next` relative to `base`: 0.05 is 5 % slower. */
  readonly change: number;
  /** Of the difference; only where that is beyond both thresholds. */
  readonly interval?: Interval;
}

/** A pair and what is said of it. */
export interface Judged<R extends Placed = Placed> {
  readonly pair: Pair<R>;
  readonly verdict: Verdict;
  /** What would have been said were it not for something worse. */
  readonly also?: Verdict;
  readonly speed?: Speed;
  /** The reason, where the figures do not give it; empty where they do. */
  readonly why: string;
}

/** What a pair is judged by. */
export interface Rules<R extends Placed = Placed> {
  readonly threshold: Threshold;
  /** The interval of the difference, asked for only where it can matter. */
  interval(base: R, next: R): Interval;
}

/** How many times greater an error must be to count as one. */
const LESS_ACCURATE = 2;
/** Errors below are roundings of fp32: they differ with the order of sums. */
const TINY = { rel_l2_err: 1e-6, max_abs_err: 1e-5 } as const;

/** The verdict on `pair`. */
export function judge<R extends Placed>(
  pair: Pair<R>,
  rules: Rules<R>,
): Judged<R> {
  const { base, next } = pair;
  const say = (verdict: Verdict, why = ""): Judged<R> => ({
    pair,
    verdict,
    why,
  });
  if (base === undefined) return say("new", failureOf(next!.row));
  if (next === undefined) return say("missing", failureOf(base.row));
  const mismatch = mismatchOf(base.row, next.row);
  if (mismatch !== undefined) return say("incomparable", mismatch);
  if (base.row.status !== "ok" || next.row.status !== "ok") {
    const [verdict, why] = outcome(base.row, next.row);
    return say(verdict, why);
  }
  const { verdict, speed } = compare(base, next, rules);
  const sol = aboveSol(base.row, "base") ??
    aboveSol(next.row, "new");
  const worse = lessAccurate(base.row, next.row);
  if (worse !== undefined) {
    return { pair, verdict: "less-accurate", also: verdict, speed, why: worse };
  }
  return sol === undefined
    ? { pair, verdict, speed, why: "" }
    : { pair, verdict: "suspect", also: verdict, speed, why: sol };
}

/** Whether the interval of a pair decides its verdict. */
export function isPast(
  { base, next }: Pair<Placed>,
  threshold: Threshold,
): boolean {
  if (base?.row.status !== "ok" || next?.row.status !== "ok") return false;
  return beyond(
    Number(base.row.median_us),
    Number(next.row.median_us),
    threshold,
  );
}

function beyond(
  base_us: number,
  next_us: number,
  { relative, minUs }: Threshold,
): boolean {
  const difference = Math.abs(next_us - base_us);
  return difference > relative * base_us && difference > minUs;
}

function compare<R extends Placed>(
  base: R,
  next: R,
  { threshold, interval }: Rules<R>,
): { readonly verdict: Verdict; readonly speed: Speed } {
  const [base_us, next_us] = [
    Number(base.row.median_us),
    Number(next.row.median_us),
  ];
  const speed = { base_us, next_us, change: next_us / base_us - 1 };
  if (!beyond(base_us, next_us, threshold)) return { verdict: "same", speed };
  const between = interval(base, next);
  const verdict = next_us > base_us
    ? between.low > 0 ? "slower" : "unclear"
    : between.high < 0
    ? "faster"
    : "unclear";
  return { verdict, speed: { ...speed, interval: between } };
}

/** Of a pair in which one row at least has no timing. */
function outcome(base: CsvRow, next: CsvRow): readonly [Verdict, string] {
  const change = `${base.status} -> ${next.status}`;
  const why = next.note === "" ? change : `${change}: ${next.note}`;
  if (next.status === "ok") return ["fixed", change];
  if (base.status === "ok") return ["broken", why];
  // What cannot run here, and says so, has not failed.
  if (base.status === "unsupported" && next.status !== "unsupported") {
    return ["broken", why];
  }
  return ["same", base.status === next.status ? failureOf(next) : why];
}

function failureOf({ status, note }: CsvRow): string {
  return status === "ok" ? "" : note === "" ? status : `${status}: ${note}`;
}

function aboveSol(row: CsvRow, side: string): string | undefined {
  if (!isAboveSol(row)) return undefined;
  const [median, sol] = [Number(row.median_us), Number(row.sol_us)];
  return `above SOL in ${side}: ${median.toPrecision(4)} us, SOL is ${
    sol.toPrecision(4)
  } us`;
}

function lessAccurate(base: CsvRow, next: CsvRow): string | undefined {
  for (const column of ["rel_l2_err", "max_abs_err"] as const) {
    if (base[column] === "" || next[column] === "") continue;
    const [from, to] = [Number(base[column]), Number(next[column])];
    const limit = Math.max(LESS_ACCURATE * from, TINY[column]);
    // Written so that NaN is worse than any number, and no worse than NaN.
    if (to <= limit || Number.isNaN(from)) continue;
    return `${column} ${from.toPrecision(3)} -> ${to.toPrecision(3)}`;
  }
  if (base.deterministic === "true" && next.deterministic === "false") {
    return "deterministic -> not deterministic";
  }
}

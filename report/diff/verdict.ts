/**
 * Judges pairs of rows: one verdict for each case.
 *
 * @module
 */

import type { Column, CsvRow } from "../../bench/row/csv_row.ts";
import type { Interval } from "./interval.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import type { Pair } from "./join.ts";
import { loweredBy } from "../../bench/row/row.ts";
import { isAboveSol, isRemembered } from "../model/sol.ts";
import type { Threshold } from "./thresholds.ts";

/** The verdicts on a pair, the worst first. */
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
  /** `next_us / base_us - 1`: 0.05 is 5 % slower. */
  readonly change: number;
  /** Whether one of the rows is suspect. */
  readonly suspect: boolean;
  /** The confidence interval of the difference, if the difference exceeds both thresholds. */
  readonly interval?: Interval;
}

/** A pair and its verdict. */
export interface Judged {
  readonly pair: Pair;
  readonly verdict: Verdict;
  /** The verdict on the times, if another problem decides `verdict`. */
  readonly also?: Verdict;
  readonly speed?: Speed;
  /** The reason; empty if the figures show it. */
  readonly why: string;
}

/** The limits by which a pair is judged. */
export interface Rules {
  readonly threshold: Threshold;
  /**
   * The relative change within which two runs of the same build differ, as a calibration measured. A
   * smaller change is unclear.
   */
  readonly effect?: number | undefined;
  /** The least distance of the interval from 0, in microseconds. @default {0} */
  readonly marginUs?: number;
  /** Returns the interval of the difference; called only where {@linkcode exceedsThresholds} holds. */
  interval(base: SourcedRow, next: SourcedRow): Interval;
}

/** The factor by which an error must grow to count as less accurate. */
const LESS_ACCURATE = 2;
/** Errors below these are rounding errors of fp32, which depend on the order of summation. */
const TINY = { rel_l2_err: 1e-6, max_abs_err: 1e-5 } as const;

/** Judges `pair`. */
export function judge(
  pair: Pair,
  rules: Rules,
): Judged {
  const { base, next } = pair;
  const judged = (verdict: Verdict, why = ""): Judged => ({
    pair,
    verdict,
    why,
  });
  if (base === undefined) return judged("new", failureOf(next!.row));
  if (next === undefined) return judged("missing", failureOf(base.row));
  const mismatch = mismatchOf(base.row, next.row);
  if (mismatch !== undefined) return judged("incomparable", mismatch);
  if (base.row.status !== "ok" || next.row.status !== "ok") {
    const [verdict, why] = outcome(base.row, next.row);
    return judged(verdict, why);
  }
  const lowered = clocksLowered(base.row, "base") ??
    clocksLowered(next.row, "new");
  if (lowered !== undefined) return judged("incomparable", lowered);
  const sol = suspectBy(base.row, "base") ?? suspectBy(next.row, "new");
  const { verdict, speed, why } = compare(base, next, rules, sol !== undefined);
  const worse = lessAccurate(base.row, next.row);
  const also = (hidden: string) => [hidden, ...why].join("; ");
  if (worse !== undefined) {
    const verdicts = { verdict: "less-accurate", also: verdict } as const;
    return { pair, ...verdicts, speed, why: also(worse) };
  }
  return sol === undefined
    ? { pair, verdict, speed, why: why.join("; ") }
    : { pair, verdict: "suspect", also: verdict, speed, why: also(sol) };
}

/** Returns whether the times of `pair` differ by more than both thresholds: the interval decides then. */
export function exceedsThresholds(
  { base, next }: Pair,
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

/** The verdict on the times of a pair, and the reasons besides the interval. */
interface Compared {
  readonly verdict: Verdict;
  readonly speed: Speed;
  readonly why: readonly string[];
}

function compare(
  base: SourcedRow,
  next: SourcedRow,
  { threshold, effect = 0, marginUs = 0, interval }: Rules,
  suspect: boolean,
): Compared {
  const [base_us, next_us] = [
    Number(base.row.median_us),
    Number(next.row.median_us),
  ];
  const change = next_us / base_us - 1;
  const speed = { base_us, next_us, change, suspect };
  if (!beyond(base_us, next_us, threshold)) {
    return { verdict: "same", speed, why: [] };
  }
  const between = interval(base, next);
  const timed = { ...speed, interval: between };
  const isSlower = next_us > base_us;
  const detectable = `its detectable effect of ${
    (100 * effect).toPrecision(2)
  } %`;
  if (Math.max(next_us / base_us, base_us / next_us) - 1 <= effect) {
    const why = [`within ${detectable}`];
    return { verdict: "unclear", speed: timed, why };
  }
  const why = effect > threshold.relative ? [`beyond ${detectable}`] : [];
  const verdict = isSlower ? "slower" : "faster";
  if (isSlower ? between.low > marginUs : between.high < -marginUs) {
    return { verdict, speed: timed, why };
  }
  if (!between.apart) return { verdict: "unclear", speed: timed, why };
  const ranks = `each run is ${verdict} than each run of the base`;
  return { verdict, speed: timed, why: [ranks, ...why] };
}

/** Judges a pair in which at least one row has no time. */
function outcome(base: CsvRow, next: CsvRow): readonly [Verdict, string] {
  const change = `${base.status} -> ${next.status}`;
  const why = next.note === "" ? change : `${change}: ${next.note}`;
  if (next.status === "ok") return ["fixed", change];
  if (base.status === "ok") return ["broken", why];
  // An unsupported case is not a failure.
  if (base.status === "unsupported" && next.status !== "unsupported") {
    return ["broken", why];
  }
  return ["same", base.status === next.status ? failureOf(next) : why];
}

function failureOf({ status, note }: CsvRow): string {
  return status === "ok" ? "" : note === "" ? status : `${status}: ${note}`;
}

function suspectBy(row: CsvRow, side: string): string | undefined {
  if (isRemembered(row)) return `results may be remembered in ${side}`;
  if (!isAboveSol(row)) return undefined;
  const [median, sol] = [Number(row.median_us), Number(row.sol_us)];
  return `above SOL in ${side}: ${median.toPrecision(4)} µs, SOL is ${
    sol.toPrecision(4)
  } µs`;
}

function clocksLowered({ throttle }: CsvRow, side: string): string | undefined {
  const reasons = loweredBy(throttle);
  if (reasons === "") return undefined;
  return `clocks were lowered in ${side} (${reasons}): measure it again`;
}

function lessAccurate(base: CsvRow, next: CsvRow): string | undefined {
  for (const column of ["rel_l2_err", "max_abs_err"] as const) {
    if (base[column] === "" || next[column] === "") continue;
    const [from, to] = [Number(base[column]), Number(next[column])];
    const limit = Math.max(LESS_ACCURATE * from, TINY[column]);
    // NaN is worse than any number, but not worse than NaN.
    if (to <= limit || Number.isNaN(from)) continue;
    return `${column} ${from.toPrecision(3)} -> ${to.toPrecision(3)}`;
  }
  if (base.deterministic === "true" && next.deterministic === "false") {
    return "deterministic -> not deterministic";
  }
}

/** Describes the change of a column; undefined if it explains no difference in time. */
type Describe = (base: string, next: string) => string | undefined;

const named = (name: string): Describe => (base, next) =>
  `${name} ${base || "none"} -> ${next || "none"}`;

const changed = (name: string): Describe => () => `${name} changed`;

/** Describes a change only if both rows have the column, which older rows lack. */
const known = (describe: Describe): Describe => (base, next) =>
  base === "" || next === "" ? undefined : describe(base, next);

/** Describes the change of a reading if it is at least the share `least` of the base's. */
const reading =
  (name: string, least: number, digits = 4): Describe => (base, next) => {
    const [from, to] = [Number(base), Number(next)];
    if (base === "" || next === "" || from === 0) return undefined;
    if (Math.abs(to - from) < least * from) return undefined;
    const [a, b] = [from, to].map((x) => Number(x.toPrecision(digits)));
    return `${name} ${a} -> ${b}`;
  };

/** The columns that may explain a difference, the likeliest cause first. */
const CAUSES: readonly (readonly [Column, Describe])[] = [
  ["binary_hash", changed("binary")],
  ["code_hash", known(changed("code"))],
  ["source_hash", changed("source")],
  ["config", named("config")],
  ["library", named("library")],
  ["driver", named("driver")],
  ["device_uuid", known(named("device"))],
  ["compiler", named("compiler")],
  ["sol_us", reading("speed of light in µs", 0.02, 3)],
  ["throttle", named("throttle")],
  ["sm_mhz", reading("sm clock", 0.01)],
  ["mem_mhz", reading("memory clock", 0.01)],
  ["power_w", reading("power", 0.1)],
  ["temp_c", reading("temperature", 0.15)],
  ["flush_bytes", named("flush bytes")],
  ["warmup_ms", named("warm-up")],
  ["rep_ms", named("rep")],
  ["harness", named("harness")],
  ["source_commit", known(named("source commit"))],
  ["commit", known(named("mnkbench commit"))],
];

/** Returns the other differences between the rows of a pair, the likeliest cause first. */
export function causesOf(pair: Pair): readonly string[] {
  if (!pair.base || !pair.next) return [];
  const [base, next] = [pair.base.row, pair.next.row];
  const causes: string[] = [];
  // The hash of the source includes comments, that of the code does not.
  const skipped = base.code_hash !== "" && next.code_hash !== ""
    ? "source_hash"
    : undefined;
  for (const [column, describe] of CAUSES) {
    if (base[column] === next[column] || column === skipped) continue;
    // Of an unsupported case nothing was built or run: its empty columns are no change.
    if ([base, next].some((row) => isUnsupported(row) && row[column] === "")) {
      continue;
    }
    const cause = describe(base[column], next[column]);
    if (cause !== undefined) causes.push(cause);
  }
  return causes;
}

function isUnsupported({ status }: CsvRow): boolean {
  return status === "unsupported";
}

/** Columns that must be equal for two durations to be comparable. */
const MUST_MATCH = [
  "device",
  "arch",
  "timer",
  "cache",
  "flush",
  "fill",
  "seed",
] as const satisfies readonly Column[];

/**
 * Describes the first difference that makes two rows incomparable; undefined where there is
 * none. An empty column is no difference where a row has no timing.
 */
export function mismatchOf(base: CsvRow, next: CsvRow): string | undefined {
  const timed = base.status === "ok" && next.status === "ok";
  const column = MUST_MATCH.find((name) =>
    base[name] !== next[name] &&
    (timed || (base[name] !== "" && next[name] !== ""))
  );
  return column && named(column)(base[column], next[column]);
}

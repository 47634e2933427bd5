/** Constructed pairs of rows and their verdicts. */

import type { Column } from "../../bench/row/csv_row.ts";
import type { Verdict } from "../diff/verdict.ts";

/** Columns by value. */
export type Change = Readonly<Partial<Record<Column, string>>>;

/** A pair of rows of one case. */
export interface VerdictCase {
  /** What the pair is. */
  readonly what: string;
  /** Missing where that side has no such row. */
  readonly base?: Change;
  readonly next?: Change;
  readonly verdict: Verdict;
  /** The exit code of `diff` with its defaults. */
  readonly code: number;
}

const WIDE = { q1_us: "5", q3_us: "15", samples: "20" };
const CRASH = { status: "crash", note: "signal 11", median_us: "" };

/** Each by itself makes rows incomparable. */
const MUST_MATCH = [
  "device",
  "arch",
  "timer",
  "cache",
  "flush",
  "fill",
  "seed",
] as const;

/** Every row is otherwise the same: 10 us with quartiles 1 % apart, 500 samples. */
export const VERDICT_CASES: readonly VerdictCase[] = [
  {
    what: "the same row",
    base: {},
    next: {},
    verdict: "same",
    code: 0,
  },
  {
    what: "2.9 % longer: within the relative threshold",
    base: {},
    next: { median_us: "10.29" },
    verdict: "same",
    code: 0,
  },
  {
    what: "20 % longer, but only by 0.2 µs: within the absolute threshold",
    base: { median_us: "1" },
    next: { median_us: "1.2" },
    verdict: "same",
    code: 0,
  },
  {
    what: "5 % longer",
    base: {},
    next: { median_us: "10.5" },
    verdict: "slower",
    code: 1,
  },
  {
    what: "5 % longer, quartiles a factor of 3 apart",
    base: WIDE,
    next: { ...WIDE, median_us: "10.5" },
    verdict: "unclear",
    code: 0,
  },
  {
    what: "5 % longer, five runs that differ by 4 % among themselves",
    base: { runs: "5", between_run_us: "0.4" },
    next: { runs: "5", between_run_us: "0.4", median_us: "10.5" },
    verdict: "unclear",
    code: 0,
  },
  {
    what: "5 % longer, where SOL is 6 % longer too",
    base: { sol_us: "8" },
    next: { sol_us: "8.48", median_us: "10.5" },
    verdict: "unclear",
    code: 0,
  },
  {
    what: "5 % shorter",
    base: {},
    next: { median_us: "9.5" },
    verdict: "faster",
    code: 0,
  },
  {
    what: "only in the new rows",
    next: {},
    verdict: "new",
    code: 0,
  },
  {
    what: "only in the base",
    base: {},
    verdict: "missing",
    code: 3,
  },
  {
    what: "was ok, crashes now",
    base: {},
    next: CRASH,
    verdict: "broken",
    code: 4,
  },
  {
    what: "was ok, is unsupported now",
    base: {},
    next: { status: "unsupported", note: "no tensor cores", median_us: "" },
    verdict: "broken",
    code: 4,
  },
  {
    what: "was unsupported, gives wrong results now",
    base: { status: "unsupported", median_us: "" },
    next: { status: "wrong", median_us: "" },
    verdict: "broken",
    code: 4,
  },
  {
    what: "crashed, is ok now",
    base: CRASH,
    next: {},
    verdict: "fixed",
    code: 0,
  },
  {
    what: "crashed and still does",
    base: CRASH,
    next: CRASH,
    verdict: "same",
    code: 0,
  },
  {
    what: "relative L2 error 3 times as great",
    base: { rel_l2_err: "0.001" },
    next: { rel_l2_err: "0.003" },
    verdict: "less-accurate",
    code: 4,
  },
  {
    what: "greatest error is NaN now",
    base: { max_abs_err: "0.125" },
    next: { max_abs_err: "NaN" },
    verdict: "less-accurate",
    code: 4,
  },
  {
    what: "errors 3 times as great, at the rounding of fp32",
    base: { rel_l2_err: "1e-7", max_abs_err: "1e-6" },
    next: { rel_l2_err: "3e-7", max_abs_err: "3e-6" },
    verdict: "same",
    code: 0,
  },
  {
    what: "two runs of a kernel no longer give the same bits",
    base: { deterministic: "true" },
    next: { deterministic: "false" },
    verdict: "less-accurate",
    code: 4,
  },
  {
    what: "5 % longer and less accurate",
    base: { rel_l2_err: "0.001" },
    next: { rel_l2_err: "0.003", median_us: "10.5" },
    verdict: "less-accurate",
    code: 4,
  },
  {
    what: "half as long, which is above SOL",
    base: { sol_us: "8" },
    next: { sol_us: "8", median_us: "5" },
    verdict: "suspect",
    code: 0,
  },
  {
    what: "20 % longer than a base above SOL, so `slower` too",
    base: { sol_us: "11" },
    next: { sol_us: "11", median_us: "12" },
    verdict: "suspect",
    code: 1,
  },
  {
    what: "half as long, by a kernel that may remember results",
    base: {},
    next: {
      median_us: "5",
      note:
        "suspect: samples right after a change of the inputs take 9.00 µs, the others 5.00 µs: results may be remembered",
    },
    verdict: "suspect",
    code: 0,
  },
  ...MUST_MATCH
    .map((column): VerdictCase => ({
      what: `5 % longer, another ${MUST_MATCH.join(", ")}`,
      base: {},
      next: { median_us: "10.5", [column]: column === "seed" ? "1" : "other" },
      verdict: "incomparable",
      code: 3,
    })),
  {
    what: "5 % longer, another driver, binary, config and clock",
    base: {},
    next: {
      median_us: "10.5",
      driver: "581",
      binary_hash: "cccc",
      config: "BM=32",
      sm_mhz: "1755",
    },
    verdict: "slower",
    code: 1,
  },
];

/**
 * What else differs between two rows of a case: the likely causes of another duration.
 *
 * @module
 */

import type { Column, CsvRow } from "../../bench/row/csv_row.ts";

/** Says how `column` changed; nothing where the change explains nothing. */
type Teller = (base: string, next: string) => string | undefined;

const named = (name: string): Teller => (base, next) =>
  `${name} ${base || "none"} -> ${next || "none"}`;

const changed = (name: string): Teller => () => `${name} changed`;

/** A reading differs each time: one counts from `least` on, a share of the base's. */
const reading =
  (name: string, least: number, digits = 4): Teller => (base, next) => {
    const [from, to] = [Number(base), Number(next)];
    if (base === "" || next === "" || from === 0) return undefined;
    if (Math.abs(to - from) < least * from) return undefined;
    const [a, b] = [from, to].map((x) => Number(x.toPrecision(digits)));
    return `${name} ${a} -> ${b}`;
  };

/** Most likely first: what was changed on purpose, then what runs it, then the weather. */
const TELLERS: readonly (readonly [Column, Teller])[] = [
  ["binary_hash", changed("binary")],
  ["source_hash", changed("source")],
  ["config", named("config")],
  ["library", named("library")],
  ["driver", named("driver")],
  ["compiler", named("compiler")],
  ["sol_us", reading("speed of light in us", 0.02, 3)],
  ["throttle", named("throttle")],
  ["sm_mhz", reading("sm clock", 0.01)],
  ["mem_mhz", reading("memory clock", 0.01)],
  ["power_w", reading("power", 0.1)],
  ["temp_c", reading("temperature", 0.15)],
  ["flush_bytes", named("flush bytes")],
  ["warmup_ms", named("warm-up")],
  ["rep_ms", named("rep")],
  ["harness", named("harness")],
];

/** What differs from `base` to `next`, the likeliest cause first. */
export function causesOf(base: CsvRow, next: CsvRow): readonly string[] {
  const causes: string[] = [];
  for (const [column, tell] of TELLERS) {
    if (base[column] === next[column]) continue;
    const cause = tell(base[column], next[column]);
    if (cause !== undefined) causes.push(cause);
  }
  return causes;
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
 * How the first column differs that makes the two rows incomparable; nothing where they
 * can be compared. A row without a timing may lack such columns: an empty one is no
 * difference there.
 */
export function mismatchOf(base: CsvRow, next: CsvRow): string | undefined {
  const timed = base.status === "ok" && next.status === "ok";
  const column = MUST_MATCH.find((name) =>
    base[name] !== next[name] &&
    (timed || (base[name] !== "" && next[name] !== ""))
  );
  return column && named(column)(base[column], next[column]);
}

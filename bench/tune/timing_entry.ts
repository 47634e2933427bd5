/**
 * Defines the schema of a timing-cache entry: the winner of a search, and its key.
 *
 * @module
 */

import {
  finite,
  gtValue,
  type InferOutput,
  integer,
  maxValue,
  minValue,
  number,
  object,
  pipe,
  string,
} from "valibot";
import { MOST_LEVEL } from "./levels.ts";
import { canonicalJson } from "../worker/run_info.ts";
import { hashOf } from "../device/binary_cache_entry.ts";

/** The fields of a key; each is text. */
export const TIMING_FIELDS = [
  "op",
  "kernel",
  "backend",
  "a_type",
  "b_type",
  "c_type",
  "acc_type",
  "layout",
  "m",
  "n",
  "k",
  "params",
  "alignment",
  "workspace",
  "device",
  "arch",
  "units",
  "driver",
  "compiler",
  "library",
  "source",
  "harness",
  "timer",
  "cache",
  "flush",
  "fill",
] as const;

/**
 * The schema of a key: text by field. The suite is none of them: suites share what they
 * have in common.
 */
export const timingKeySchema = object(
  Object.fromEntries(TIMING_FIELDS.map((field) => [field, string()])) as Record<
    typeof TIMING_FIELDS[number],
    ReturnType<typeof string>
  >,
);

/** A key as text by field. */
export type TimingKey = Readonly<InferOutput<typeof timingKeySchema>>;

/** Returns the identity of a key: equal for equal keys, and only for them. */
export function timingId(key: TimingKey): string {
  return hashOf(canonicalJson(key));
}

const LEVEL = `it must be a whole number from 1 to ${MOST_LEVEL}`;

/** The schema of the winner of a search. */
export const timingEntrySchema = object({
  key: timingKeySchema,
  /** The winning config, as `formatValues` writes it; empty for a kernel that has one. */
  config: string(),
  /** Its median in the finals. */
  us: pipe(
    number(),
    finite("it must be a time in microseconds"),
    gtValue(0, "it must be above 0"),
  ),
  /** Errors of its output against the reference. */
  error: object({ max_abs: number(), max_rel: number() }),
  /** The level of the search, 1 to 5. */
  level: pipe(
    number(),
    integer(LEVEL),
    minValue(1, LEVEL),
    maxValue(MOST_LEVEL, LEVEL),
  ),
  /** When it was found, ISO 8601. */
  date: string(),
});

/** The winner of a search. */
export type TimingEntry = Readonly<InferOutput<typeof timingEntrySchema>>;

/** Returns an entry as JSON can hold it: exact in its fields, in their order. */
export function plainEntry(entry: TimingEntry): TimingEntry {
  const { key, config, us, error, level, date } = entry;
  const fields = TIMING_FIELDS.map((field) => [field, key[field]]);
  return {
    key: Object.fromEntries(fields) as TimingKey,
    config,
    us,
    error: { max_abs: error.max_abs, max_rel: error.max_rel },
    level,
    date,
  };
}

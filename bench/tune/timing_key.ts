/**
 * What a config is the best for: all that could make another one better.
 *
 * @module
 */

import { canonicalJson } from "../worker/fingerprint.ts";
import { hashOf } from "../device/binary_cache_entry.ts";

/** What a timing is looked up by; every part is text. */
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

/** A key as text by field. The suite is none of them: what two suites share, they share. */
export type TimingKey = Readonly<Record<typeof TIMING_FIELDS[number], string>>;

/** The identity of a key: equal for equal keys, and only for them. */
export function timingId(key: TimingKey): string {
  return hashOf(canonicalJson(key));
}

/**
 * The key of a timing cache: everything that decides which config is the best.
 *
 * @module
 */

import { type InferOutput, object, string } from "valibot";
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

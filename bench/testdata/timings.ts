/**
 * Entries of timing caches, for tests.
 *
 * @module
 */

import {
  TIMING_FIELDS,
  type TimingEntry,
  type TimingKey,
} from "../tune/timing_cache.ts";

/** An entry of a kernel named `kernel`, as `changes` have it. */
export function timingEntry(
  kernel: string,
  changes: Partial<Omit<TimingEntry, "key">> = {},
): TimingEntry {
  const fields = TIMING_FIELDS.map((field) => [field, `a ${field}`]);
  const key = { ...Object.fromEntries(fields), kernel } as TimingKey;
  return {
    key,
    config: "BM=16",
    us: 7.25,
    error: { max_abs: 0.5, max_rel: 0.001 },
    level: 3,
    date: "2026-01-01T00:00:00Z",
    ...changes,
  };
}

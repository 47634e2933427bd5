/**
 * Reads and changes a timing cache on disk, which several processes may read and change at once.
 *
 * Readers see the file as it was before a change or after it, since it is replaced by a
 * rename. Writers take a lock beside it, read it again, change it and replace it.
 *
 * @module
 */

import { readIfThere, replaceFile } from "../files/disk.ts";
import { lockFile } from "../files/lock.ts";
import { TimingCache } from "./timing_cache.ts";

/**
 * Reads the timings in the file at `path`; empty where there is none.
 *
 * @throws {UserError} Where there is one that is damaged, foreign or unreadable.
 */
export function readTimings(path: string): TimingCache {
  const text = readIfThere(path);
  return text === undefined ? new TimingCache() : TimingCache.parse(text, path);
}

/**
 * Changes the file at `path`, alone: what others wrote before is in what `change` gets.
 *
 * @returns What `change` returns.
 * @throws {UserError} As {@linkcode readTimings}, and where the disk refuses; the file is
 * as it was.
 */
export function changeTimings<T>(
  path: string,
  change: (timings: TimingCache) => T,
): T {
  using _lock = lockFile(path);
  const timings = readTimings(path);
  const before = timings.format();
  const result = change(timings);
  const after = timings.format();
  if (after !== before) replaceFile(path, after);
  return result;
}

/**
 * A timing cache on disk, which several processes may read and change at once.
 *
 * Readers see the file as it was before a change or after it, since it is replaced by a
 * rename. Writers take a lock beside it, read it again, change it and replace it.
 *
 * @module
 */

import { dirname } from "node:path";
import { onDisk, readIfThere, replaceFile } from "../files/disk.ts";
import { UserError } from "../model/errors.ts";
import { TimingCache } from "./timing_cache.ts";

/**
 * The timings in the file at `path`; empty where there is none.
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
  using lock = openLock(path);
  onDisk(path, () => lock.lockSync(true));
  // Closing it unlocks it, and so does dying.
  const timings = readTimings(path);
  const before = timings.format();
  const result = change(timings);
  const after = timings.format();
  if (after !== before) replaceFile(path, after);
  return result;
}

function openLock(path: string): Deno.FsFile {
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    // Not the file itself: whoever waits for it would lock what was replaced.
    return Deno.openSync(`${path}.lock`, { write: true, create: true });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(
      `Cannot change the timing cache ${path}: ${said}; make its folder writable, or name another with --timing-cache FILE`,
    );
  }
}

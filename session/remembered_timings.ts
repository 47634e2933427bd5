/**
 * Reads and updates the timing cache for the commands that run cases.
 *
 * @module
 */

import type { Settings } from "../bench/model/settings.ts";
import { replaceFile } from "../bench/files/disk.ts";
import { UserError } from "../bench/model/errors.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { keyText, type Row } from "../bench/row/row.ts";
import {
  changeTimings,
  readTimings,
  type TimingCache,
} from "../bench/tune/timing_cache.ts";
import { timingCacheOf } from "./home.ts";
import type { Running, Tuning } from "./options.ts";

const MIB = 1 << 20;

/**
 * The settings that `options` of tuning ask for.
 *
 * @throws {UserError} Where they contradict one another, and where the timing cache is
 * damaged or something else.
 */
export function tuningOf(
  options: Tuning & Pick<Running, "kernelCache">,
): Partial<Settings> {
  const { level, noTimingCache, errorOnCacheMiss, workspace } = options;
  const without = noTimingCache ? "--no-timing-cache" : "--level 0";
  const remembers = !noTimingCache && level > 0;
  if (errorOnCacheMiss && !remembers) {
    throw new UserError(
      `Cannot miss what is not looked up: leave out --error-on-cache-miss or ${without}`,
    );
  }
  if (noTimingCache && options.timingCache !== undefined) {
    throw new UserError(
      "Cannot both use a timing cache and none: leave out --timing-cache or --no-timing-cache",
    );
  }
  const path = timingCacheOf(options.timingCache, options.kernelCache);
  // Here, before a device is opened: workers read it again.
  if (remembers) readTimings(path);
  return {
    level,
    ...(remembers ? { timingCache: path } : {}),
    ...(errorOnCacheMiss ? { demandCached: true } : {}),
    ...(workspace === undefined ? {} : { workspaceBytes: workspace * MIB }),
  };
}

/** Formats the message about `count` configs written to the timing cache at `path`. */
export function keptIn(count: number, path: string): string {
  return `Kept ${counted(count)} in ${path}`;
}

/**
 * Formats the number of `rows` whose config is from the timing cache at `path`, repeats counted once;
 * nothing where none does.
 */
export function fromCache(
  rows: readonly Row[],
  path: string | undefined,
): readonly string[] {
  const known = new Set(
    rows.filter(({ config_by }) => config_by === "cache")
      .map(({ key }) => keyText(key)),
  ).size;
  if (path === undefined || known === 0) return [];
  return [
    `Took ${counted(known)} from ${path}; --no-timing-cache searches again`,
  ];
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "config" : "configs"}`;
}

/** The configs that a run finds, until they are kept; of repeats, the first. */
export class Remembered {
  readonly #path: string | undefined;
  readonly #draft: string;
  readonly #found: TimingCache;

  /**
   * @param settings Of the run; without a timing cache nothing is kept.
   * @param draft A file that lives as long as the run is unfinished: a run that was killed
   * goes on without the events of its first part.
   */
  constructor(
    { timingCache }: Pick<Settings, "timingCache">,
    draft: string,
  ) {
    this.#path = timingCache;
    this.#draft = draft;
    this.#found = readTimings(draft);
  }

  /** Takes note of what `event` says of a config. @throws {UserError} Where the disk refuses. */
  take(event: Event): void {
    if (event.event !== "tuned" || !event.entry) return;
    if (this.#path === undefined || this.#found.query(event.entry.key)) return;
    this.#found.put(event.entry);
    replaceFile(this.#draft, this.#found.format());
  }

  /**
   * Writes what was found.
   *
   * @returns What there is to say of it: a disk that refuses takes no rows with it.
   */
  keep(): readonly string[] {
    const path = this.#path;
    const { entries, size } = this.#found;
    if (path === undefined || size === 0) return [];
    try {
      changeTimings(path, (timings) => {
        for (const [, entry] of entries) timings.improve(entry);
      });
      return [keptIn(size, path)];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return [error.message];
    }
  }
}

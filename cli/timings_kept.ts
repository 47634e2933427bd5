/**
 * What running commands look up in a timing cache, and what they leave there.
 *
 * @module
 */

import type { Settings } from "../bench/config.ts";
import { UserError } from "../bench/errors.ts";
import type { Event } from "../bench/protocol.ts";
import type { TimingEntry } from "../bench/timing_entry.ts";
import { changeTimings, readTimings } from "../bench/timing_file.ts";
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

/** What a run finds, until it is kept. */
export class Remembered {
  readonly #path: string | undefined;
  #entries: TimingEntry[] = [];

  /** @param settings Of the run; without a timing cache nothing is kept. */
  constructor({ timingCache }: Pick<Settings, "timingCache">) {
    this.#path = timingCache;
  }

  /** Takes note of what `event` says of a config. */
  take(event: Event): void {
    if (event.event === "tuned" && event.entry) this.#entries.push(event.entry);
  }

  /**
   * Writes what was found; of repeats, the first.
   *
   * @returns What there is to say of it: a disk that refuses takes no rows with it.
   */
  keep(): readonly string[] {
    const path = this.#path;
    const found = this.#entries;
    this.#entries = [];
    if (path === undefined || found.length === 0) return [];
    try {
      changeTimings(path, (timings) => {
        for (const entry of found.toReversed()) timings.improve(entry);
      });
      const what = found.length === 1 ? "config" : "configs";
      return [`Kept ${found.length} ${what} in ${path}`];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return [error.message];
    }
  }
}

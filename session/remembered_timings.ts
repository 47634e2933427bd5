/**
 * Writes the configs that a run finds to the timing cache.
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

/** Says that `count` configs were written to the timing cache at `path`. */
export function keptIn(count: number, path: string): string {
  return `Kept ${counted(count)} in ${path}`;
}

/**
 * Says how many of `rows` have their config from the timing cache at `path`. Repeats are
 * counted once.
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

/** Holds the configs that a run finds until they are written; of repeats, the first. */
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

/**
 * Keeps what a run has found: which rows and lost configs of an unfinished run still hold, and the
 * configs for the timing cache.
 *
 * @module
 */

import { BinaryCache } from "../bench/device/binary_cache.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import type { Candidate } from "../bench/model/kernel.ts";
import type { Settings } from "../bench/model/settings.ts";
import { blame, CaseError, UserError } from "../bench/model/errors.ts";
import { parseValues } from "../bench/model/grid.ts";
import { joinHashes } from "../bench/measure/case_run.ts";
import { type CaseKey, caseText, keyOf, type Row } from "../bench/row/row.ts";
import type { Case } from "../bench/model/suite.ts";
import type { Selected } from "./select.ts";
import type { Journal } from "../bench/worker/journal.ts";
import { isLoss, type LostConfig } from "../bench/tune/config_book.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { counted } from "../bench/files/terminal_text.ts";
import { replaceFile } from "../bench/files/replace.ts";
import { callSuite, supportOf } from "./suite_calls.ts";
import {
  changeTimings,
  readTimings,
  type TimingCache,
} from "../bench/tune/timing_cache.ts";

/** The hash of the sources of a case at a config; nothing where either is gone. */
export type Sources = (key: CaseKey, config: string) => string | undefined;

/** The sources of what is selected, as they are now. */
export function sourcesOf(
  { cases, backend, info }: Selected,
  { cacheDir }: Settings,
): Sources {
  const byKey = casesByKey(cases);
  const cache = new BinaryCache(cacheDir);
  return (key, config) => {
    try {
      const one = byKey.get(caseText(key));
      if (one === undefined) return undefined;
      const builds = blame(
        "name the kernel's sources",
        () => callSuite(() => [...one.builds(parseValues(config))]),
      );
      return joinHashes(
        builds.map((build) => cache.sourceHash(build, backend, info.arch)),
      );
    } catch (error) {
      // A source that is gone: running the case says so in its row.
      if (error instanceof CaseError) return undefined;
      throw error;
    }
  };
}

/**
 * A test of rows: the case is still selected, and its sources are those that were
 * measured and can still be read. A failure that names no sources is tried again, as it
 * may have been fixed.
 */
export function validity(
  selected: Selected,
  settings: Settings,
): (row: Row) => boolean {
  const byKey = casesByKey(selected.cases);
  const sources = sourcesOf(selected, settings);
  return ({ key, status, config, provenance }) => {
    const one = byKey.get(caseText(key));
    if (one === undefined) return false;
    if (status === "unsupported") {
      return supportOf(one, selected.info) === "unsupported";
    }
    return sources(key, config) === (provenance.source_hash ?? "");
  };
}

function casesByKey(cases: readonly Case[]): ReadonlyMap<string, Case> {
  return new Map(cases.map((c) => [caseText(keyOf(c)), c]));
}

/** The configs that ended a worker so far, in all repeats and in earlier starts of a run. */
export class CrashedConfigs {
  readonly #all: LostConfig[];
  readonly #journal: Journal;
  readonly #sources: Sources;

  /** @param sources What was lost counts as long as its sources are the same. */
  constructor(journal: Journal, sources: Sources) {
    this.#journal = journal;
    this.#sources = sources;
    this.#all = journal.lost.filter(({ key, config, sourceHash }) =>
      sources(key, config) === sourceHash
    );
  }

  /** All of them. */
  get all(): readonly LostConfig[] {
    return this.#all;
  }

  /** Keeps what `event` says of a config. @throws {UserError} Where the disk refuses. */
  take(event: Event, repeat: number): void {
    if (event.event !== "config") return;
    const lost = isLoss(event);
    const sourceHash = lost
      ? this.#sources(event.key, event.config)
      : undefined;
    this.#journal.appendConfig(event, { repeat, sourceHash });
    if (lost) this.#all.push(event);
  }
}

/** Returns the configs of `one`; undefined where its kernel throws. */
export function candidatesOf(
  one: Case,
  info: DeviceInfo,
): readonly Candidate[] | undefined {
  try {
    return callSuite(() =>
      one.unsupported(info) === undefined ? [...one.candidates(info)] : []
    );
  } catch {
    // A user's kernel may throw anything: it does so again in the worker, as a row.
    return undefined;
  }
}

/**
 * Tells whether there is anything to tune, and no other case to follow: more than one config, or
 * a kernel that fails to list them, which is not to pass for one that has none.
 */
export function isTunable(one: Case, info: DeviceInfo): boolean {
  if (one.follows !== undefined) return false;
  // What a device offers is only known once it is open.
  if (one.offers !== undefined) return true;
  const candidates = candidatesOf(one, info);
  return candidates === undefined || candidates.length > 1;
}

/** Says that `count` configs were written to the timing cache at `path`. */
export function keptIn(count: number, path: string): string {
  return `Kept ${counted(count, "config")} in ${path}`;
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
      .map(({ key }) => caseText(key)),
  ).size;
  if (path === undefined || known === 0) return [];
  return [
    `Took ${
      counted(known, "config")
    } from ${path}; --no-timing-cache searches again`,
  ];
}

/** Holds the configs that a run finds until they are written; of repeats, the first. */
export class TimingCacheDraft {
  readonly #path: string | undefined;
  readonly #draft: string;
  readonly #found: TimingCache;

  /**
   * @param settings Of the run; without a timing cache nothing is kept.
   * @param draft A file that lives as long as the run is unfinished: a run that was killed
   * goes on without the events of its first part.
   * @throws {UserError} Where the draft is damaged.
   */
  constructor(
    { timingCache }: Pick<Settings, "timingCache">,
    draft: string,
  ) {
    this.#path = timingCache;
    this.#draft = draft;
    this.#found = readTimings(
      draft,
      "remove it to go on; later runs then search the configs in it again",
    );
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

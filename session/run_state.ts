/**
 * Decides which rows and lost configs of an unfinished run are still valid, and keeps the configs for the
 * timing cache.
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

/** Returns the hash of the sources of a case at a config; undefined if either no longer exists. */
export type Sources = (key: CaseKey, config: string) => string | undefined;

/** Returns the function that hashes the present sources of the selected cases. */
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
      // For example a missing source: the case gets a failed row when it is run.
      if (error instanceof CaseError) return undefined;
      throw error;
    }
  };
}

/**
 * Returns the test whether a row is still valid: its case is selected, and its sources have the same
 * hash. A failed row without a hash is not valid, as its cause may have been fixed.
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

/** The configs that ended a worker, in all repeats and in earlier starts of a run. */
export class CrashedConfigs {
  readonly #all: LostConfig[];
  readonly #journal: Journal;
  readonly #sources: Sources;

  /** @param sources Hashes sources: a lost config counts only while its sources are the same. */
  constructor(journal: Journal, sources: Sources) {
    this.#journal = journal;
    this.#sources = sources;
    this.#all = journal.lost.filter(({ key, config, sourceHash }) =>
      sources(key, config) === sourceHash
    );
  }

  /** All lost configs. */
  get all(): readonly LostConfig[] {
    return this.#all;
  }

  /** Keeps the config of `event`, if it is one. @throws {UserError} If the disk fails. */
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

/** Returns the configs of `one`; undefined if its kernel throws. */
export function candidatesOf(
  one: Case,
  info: DeviceInfo,
): readonly Candidate[] | undefined {
  try {
    return callSuite(() =>
      one.unsupported(info) === undefined ? [...one.candidates(info)] : []
    );
  } catch {
    // The kernel throws again in the worker, where it becomes a failed row.
    return undefined;
  }
}

/**
 * Returns whether a case can be tuned: it has more than one config and takes none of another case. A
 * kernel that throws when it lists its configs counts as tunable.
 */
export function isTunable(one: Case, info: DeviceInfo): boolean {
  if (one.follows !== undefined) return false;
  // The configs that a device offers are known only when it is open.
  if (one.offers !== undefined) return true;
  const candidates = candidatesOf(one, info);
  return candidates === undefined || candidates.length > 1;
}

/** Returns the note that `count` configs were written to the timing cache at `path`. */
export function keptIn(count: number, path: string): string {
  return `Kept ${counted(count, "config")} in ${path}`;
}

/**
 * Returns the note on how many cases have their config from the timing cache at `path`; none if no case
 * has.
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

/** Holds the configs that a run finds, the first of each case, until they are written. */
export class TimingCacheDraft {
  readonly #path: string | undefined;
  readonly #draft: string;
  readonly #found: TimingCache;

  /**
   * @param settings The settings of the run; without a timing cache nothing is kept.
   * @param draft A file in the folder of the unfinished run, from which a killed run continues.
   * @throws {UserError} If the draft is damaged.
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

  /** Keeps the config of a `tuned` event. @throws {UserError} If the disk fails. */
  take(event: Event): void {
    if (event.event !== "tuned" || !event.entry) return;
    if (this.#path === undefined || this.#found.query(event.entry.key)) return;
    this.#found.put(event.entry);
    replaceFile(this.#draft, this.#found.format());
  }

  /**
   * Writes the found configs to the timing cache.
   *
   * @returns Notes on it. A failure of the disk is a note too, as the rows are not affected.
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

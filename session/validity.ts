/**
 * Decides which rows and lost configs of an unfinished run still hold.
 *
 * @module
 */

import { BinaryCache } from "../bench/device/binary_cache.ts";
import type { Settings } from "../bench/model/settings.ts";
import { CaseError } from "../bench/model/errors.ts";
import { parseValues } from "../bench/model/grid.ts";
import { joinHashes } from "../bench/measure/case_run.ts";
import { type Key, keyOf, keyText, type Row } from "../bench/row/row.ts";
import type { Case } from "../bench/model/suite.ts";
import type { Selected } from "./select.ts";
import type { Journal } from "../bench/worker/journal.ts";
import { isLoss, type LostConfig } from "../bench/tune/config_book.ts";
import type { Event } from "../bench/worker/protocol.ts";

/** The hash of the sources of a case at a config; nothing where either is gone. */
export type Sources = (key: Key, config: string) => string | undefined;

/** The sources of what is selected, as they are now. */
export function sourcesOf(
  { cases, backend, info }: Selected,
  { cacheDir }: Settings,
): Sources {
  const byKey = casesByKey(cases);
  const cache = new BinaryCache(cacheDir);
  return (key, config) => {
    try {
      const hashes = byKey.get(keyText(key))?.builds(parseValues(config))
        .map((build) => cache.sourceHash(build, backend, info.arch));
      return hashes && joinHashes(hashes);
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
 * may have been mended.
 */
export function validity(
  selected: Selected,
  settings: Settings,
): (row: Row) => boolean {
  const byKey = casesByKey(selected.cases);
  const sources = sourcesOf(selected, settings);
  return ({ key, status, config, provenance }) => {
    const one = byKey.get(keyText(key));
    if (one === undefined) return false;
    if (status === "unsupported") {
      return one.unsupported(selected.info) !== undefined;
    }
    return sources(key, config) === (provenance.source_hash ?? "");
  };
}

function casesByKey(cases: readonly Case[]): ReadonlyMap<string, Case> {
  return new Map(cases.map((c) => [keyText(keyOf(c)), c]));
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

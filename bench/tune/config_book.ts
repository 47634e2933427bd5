/**
 * What is known of cases' configs before anything is timed: the one way by which a config
 * that somebody chose, or a search found, reaches a case.
 *
 * @module
 */

import { type Key, keyText, type RowBase } from "../row/row.ts";
import type { LostConfig } from "./crashed_configs.ts";
import type { TimingCache } from "./timing_cache.ts";
import type { TimingEntry, TimingKey } from "./timing_entry.ts";
import type { Values } from "../model/grid.ts";

/** What is known, as a job says it. Cases are named by the text of their keys. */
export interface KnownConfigs {
  /** The config that a case runs at: the winner of a search, or one that is asked for. */
  readonly chosen?: Readonly<Record<string, string>>;
  /** The only configs that a case may choose from, each to be timed to the end. */
  readonly among?: Readonly<Record<string, readonly string[]>>;
  /** Configs that ended a worker: a search leaves them out. */
  readonly crashed?: readonly LostConfig[];
}

/** What is known, and what a run adds to it. */
export class ConfigBook {
  readonly #chosen: Map<string, string>;
  readonly #among: Readonly<Record<string, readonly string[]>>;
  /** Configs that a search leaves out, since they ended a worker. */
  readonly crashed: readonly LostConfig[];

  /** @param timings Configs found by earlier runs; without it none are looked up. */
  constructor(known: KnownConfigs = {}, readonly timings?: TimingCache) {
    this.#chosen = new Map(Object.entries(known.chosen ?? {}));
    this.#among = known.among ?? {};
    this.crashed = known.crashed ?? [];
  }

  /** The config that the case of `key` runs at; nothing where none was chosen yet. */
  chosen(key: Key): string | undefined {
    return this.#chosen.get(keyText(key));
  }

  /** Has the case of `key`, and those that follow it, run at `config` from now on. */
  choose(key: Key, config: string): void {
    this.#chosen.set(keyText(key), config);
  }

  /** The only configs that the case of `key` may choose from; nothing where all may be. */
  among(key: Key): readonly string[] | undefined {
    return this.#among[keyText(key)];
  }

  /** What an earlier run found; nothing where it found none or none are looked up. */
  cached(key: TimingKey): TimingEntry | undefined {
    return this.timings?.query(key);
  }
}

/** A config and what choosing it took. */
export interface Choice {
  readonly config: Values;
  readonly by: RowBase["config_by"];
  /** Configs that were timed. */
  readonly tried: number;
  readonly ms: number;
  /** What else is to be said; empty where nothing is. */
  readonly note: string;
}

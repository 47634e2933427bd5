/**
 * Keeps the known configs of cases before anything is timed: the one way by which a config
 * that somebody chose, or a search found, reaches a case.
 *
 * @module
 */

import { type Key, keyText, type RowBase } from "../row/row.ts";
import type { LostConfig } from "./crashed_configs.ts";
import type { TimingCache, TimingEntry, TimingKey } from "./timing_cache.ts";
import type { Values } from "../model/grid.ts";

/** Known configs of a job. Cases are named by the text of their keys. */
export interface KnownConfigs {
  /** The config that a case runs at: the winner of a search, or one that is asked for. */
  readonly chosen?: Readonly<Record<string, string>>;
  /** The only configs that a case may choose from, each to be timed to the end. */
  readonly among?: Readonly<Record<string, readonly string[]>>;
  /** Configs that ended a worker: a search leaves them out. */
  readonly crashed?: readonly LostConfig[];
}

/** Known configs, to which a run adds. */
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

  /** Looks up the entry of an earlier run; nothing where there is none. */
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
  /** A remark for the row; may be empty. */
  readonly note: string;
}

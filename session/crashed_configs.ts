/**
 * The configs that took a worker with them in a run, for its later searches.
 *
 * @module
 */

import type { Journal } from "../bench/worker/journal.ts";
import { isLoss, type LostConfig } from "../bench/tune/crashed_configs.ts";
import type { Event } from "../bench/worker/protocol.ts";
import type { Sources } from "./validity.ts";

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

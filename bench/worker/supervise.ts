/**
 * Supervises workers: every case gets a result, although kernels may kill or hang a worker.
 *
 * @module
 */

import { EXIT, UserError } from "../model/errors.ts";
import { caseText, kernelText } from "../row/row.ts";
import { isLoss, type LostConfig } from "../tune/config_book.ts";
import { attend, type Outcome, type SuperviseOptions } from "./attend.ts";
import { type Clock, realClock } from "./clock.ts";
import type { Event, Job } from "./protocol.ts";
import { type Finished, Repeats } from "./repeats.ts";
import { WorkerProcess } from "./worker_process.ts";

/** Workers in a row that may end without a result. */
const MOST_FRUITLESS = 2;
/** Milliseconds in which a worker must exit after its last event. */
const EXIT_MS = 5_000;

/**
 * Runs `job` in a worker, and in another wherever one is lost, and yields what they say.
 *
 * A case that kills its worker gets a row with status `crash`. A case without an event for
 * `timeoutMs` gets a row with status `timeout`. If a search is trying a config at that time, only
 * the config is lost: it gets a `config` event with that status, and the next worker searches
 * without it. `alive` and `restart` are not passed on, and `done` is the last event.
 *
 * A kernel may leave state behind that makes a later kernel fail. A failure therefore counts only in
 * a worker that ran no other case's kernel before. After a failure in a used worker, the case is run again as the
 * first one of a new worker, up to three times, because a race or uninitialised data does not show
 * each time. If a repeat fails, its row is the row of the case. Otherwise the row notes that the
 * case failed once, or is wrong if the worker had run no other kernel. Once a kernel was wrong in
 * that way or as the first of a worker, its wrong results count in each worker that ran no other
 * kernel. Peers are excepted: each has a process of its own.
 *
 * @param command Starts a worker.
 * @throws {UserError} Where a worker cannot be started, gives up, or is lost three times
 * in a row without a result.
 */
export async function* supervise(
  command: readonly [string, ...string[]],
  job: Job,
  options: SuperviseOptions,
): AsyncGenerator<Event, void> {
  const state = new SweepState(job, options.clock);
  while (!options.signal?.aborted) {
    const worker = new WorkerProcess(command, state.job, options);
    let outcome: Outcome = "aborted";
    try {
      const events = attend(worker, job, { ...options, wrong: state.wrong });
      for (;;) {
        const { value, done } = await events.next();
        if (done) {
          outcome = value;
          break;
        }
        const passed = state.take(value);
        if (passed === "repeat") {
          outcome = "failed";
          break;
        }
        yield* passed;
      }
    } finally {
      state.endSearch();
      // Also if the caller stops reading events.
      await worker.end(outcome === "done" ? EXIT_MS : 0);
    }
    if (outcome === "done" || outcome === "aborted") return;
    if (state.goesOn(outcome)) continue;
    const { said } = await worker.ending;
    throw new UserError(
      `Cannot run the worker: it ${outcome.gone} without a result, ${
        MOST_FRUITLESS + 1
      } times in a row; its last words: ${said.join(" | ") || "none"}`,
      EXIT.failed,
    );
  }
}

/** What the workers of a job have found so far, and what the next one is to do. */
class SweepState {
  /** The kernels that were wrong as the first of a worker. */
  readonly wrong = new Set<string>();
  readonly #job: Job;
  readonly #skip: Set<string>;
  readonly #chosen: Record<string, string>;
  readonly #crashed: LostConfig[];
  readonly #searches: SearchClock;
  /** Workers since the last result. */
  #fruitless = 0;
  #repeats: Repeats | undefined;

  constructor(job: Job, clock: Clock = realClock) {
    this.#job = job;
    this.#skip = new Set(job.skip);
    this.#chosen = { ...job.configs.chosen };
    this.#crashed = [...job.configs.crashed ?? []];
    this.#searches = new SearchClock(clock);
  }

  /** The job of the next worker. */
  get job(): Job {
    return {
      ...this.#job,
      skip: [...this.#skip],
      ...(this.#repeats && { first: this.#repeats.key }),
      configs: {
        ...this.#job.configs,
        chosen: this.#chosen,
        crashed: this.#crashed,
        spent: this.#searches.spent,
      },
    };
  }

  /** Takes an event. Returns those to pass on, or that the case is to be run again in a new worker. */
  take(event: Event): readonly Event[] | "repeat" {
    this.#searches.take(event);
    if (event.event === "row") return this.#takeRow(event);
    if (event.event === "config" && isLoss(event)) {
      this.#fruitless = 0;
      const { key, config, status, note } = event;
      this.#crashed.push({ key, config, status, note });
      if (this.#repeats?.inSearch) this.#repeats = undefined;
    }
    return [event];
  }

  #takeRow(event: Finished): readonly Event[] | "repeat" {
    this.#fruitless = 0;
    const { row } = event;
    const key = caseText(row.key);
    if (row.status === "ok") this.#chosen[key] = row.config;
    const repeats = this.#repeats;
    if (repeats?.key !== key) {
      this.#skip.add(key);
      return [event];
    }
    const finished = repeats.take(event);
    if (finished === undefined) return "repeat";
    this.#repeats = undefined;
    if (finished.row.status === "wrong") this.wrong.add(kernelText(row.key));
    this.#skip.add(key);
    const { text } = repeats;
    return text ? [{ event: "notice", text }, finished] : [finished];
  }

  /** Ends the search at work, whose worker is lost. */
  endSearch(): void {
    this.#searches.stop();
  }

  /** Returns whether another worker follows one with this outcome. */
  goesOn(
    outcome: Exclude<Outcome, "done" | "aborted">,
  ): outcome is Exclude<typeof outcome, { readonly gone: string }> {
    if (outcome === "failed") return true;
    if ("doubted" in outcome) {
      this.#repeats = new Repeats(outcome);
      return true;
    }
    return this.#fruitless++ < MOST_FRUITLESS;
  }
}

/** Adds up the time of searches, also of those that end with their worker. */
class SearchClock {
  readonly #spent = new Map<string, number>();
  #open: { readonly key: string; readonly since: number } | undefined;

  constructor(readonly clock: Clock) {}

  /** Milliseconds by case text. */
  get spent(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#spent);
  }

  take(event: Event): void {
    if (event.event === "progress" && event.trying) {
      const key = caseText(event.trying.key);
      if (this.#open?.key === key) return;
      this.stop();
      this.#open = { key, since: this.clock.now() };
    } else if (["case", "waits", "tuned", "row"].includes(event.event)) {
      this.stop();
    }
  }

  /** Ends the search at work, if there is one. */
  stop(): void {
    if (this.#open === undefined) return;
    const { key, since } = this.#open;
    const before = this.#spent.get(key) ?? 0;
    this.#spent.set(key, before + this.clock.now() - since);
    this.#open = undefined;
  }
}

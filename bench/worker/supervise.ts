/**
 * Supervises workers: every case gets a result, although kernels may kill or hang a worker.
 *
 * @module
 */

import { EXIT, UserError } from "../model/errors.ts";
import { isLoss, type LostConfig } from "../tune/config_book.ts";
import { type Clock, realClock } from "./clock.ts";
import type { Event, Job } from "./protocol.ts";
import {
  type CaseKey,
  caseText,
  kernelText,
  type Provenance,
  RIGHT_ALONE,
  type Row,
  SCHEMA,
} from "../row/row.ts";
import { type WorkerOptions, WorkerProcess } from "./worker_process.ts";

/** Options of {@linkcode supervise}. */
export interface SuperviseOptions extends WorkerOptions {
  /** Milliseconds without an event, within a case, after which it has timed out. */
  readonly timeoutMs: number;
  /**
   * Milliseconds without an event, outside of a case, after which a worker is killed and
   * another started: one compilation, or opening a device.
   *
   * @default {600000}
   */
  readonly idleMs?: number;
  /** Provenance of the rows of cases that killed their worker. */
  readonly provenance: Provenance;
  /** The time of such a row. @default {now, ISO 8601} */
  date?(): string;
  /** Aborting it kills the worker and ends the events. */
  readonly signal?: AbortSignal;
}

/** The outcome of one worker. */
type Outcome =
  | "done"
  | "aborted"
  /** A case or a config failed, and its event was sent: another worker continues. */
  | "failed"
  /** A case failed, perhaps by the fault of an earlier one: repeat it in new workers. */
  | Doubt
  /** How the worker ended while no case was running. */
  | { readonly gone: string };

/** The case at work. */
interface Current {
  readonly key: CaseKey;
  readonly progress?: string;
  readonly trying?: Pick<LostConfig, "key" | "config">;
}

/** A failure in a worker that had run other kernels before, which may have caused it. */
interface Doubt {
  readonly doubted: CaseKey;
  readonly status: Row["status"];
  /** Whether a config of its search failed, which no row tells of. */
  readonly inSearch: boolean;
  /** Its wrong row, where the worker had run no other kernel that could have caused it. */
  readonly own?: Finished;
}

/** The event of a finished case. */
type Finished = Extract<Event, { event: "row" }>;

/** Statuses that an earlier kernel of the same process cannot cause. */
const OWN: readonly Row["status"][] = [
  ...["ok", "checked", "unsupported", "untuned", "compile"] as const,
];
/** Statuses of cases that ran no kernel. */
const IDLE: readonly Row["status"][] = ["unsupported", "untuned", "compile"];

/** New workers in which a case that failed in a used one must be right. */
const REPEATS = 3;

/** The note on a kernel that is wrong only after its own calls at other shapes. */
const OWN_STATE =
  `correct in ${REPEATS} new processes, wrong after calls at other shapes: the kernel keeps state between calls or has a race`;

/** Milliseconds without an event in which a worker may load its suites and open its device. */
const READY_MS = 60_000;
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
  const skip = new Set(job.skip);
  const chosen = { ...job.configs.chosen };
  const crashed = [...job.configs.crashed ?? []];
  const searches = new SearchClock(options.clock ?? realClock);
  let fruitless = 0;
  let repeats: Repeats | undefined;
  const wrong = new Set<string>();
  while (!options.signal?.aborted) {
    const worker = new WorkerProcess(
      command,
      {
        ...job,
        skip: [...skip],
        ...(repeats && { first: repeats.key }),
        configs: { ...job.configs, chosen, crashed, spent: searches.spent },
      },
      options,
    );
    let outcome: Outcome = "aborted";
    try {
      const events = attend(worker, job, { ...options, wrong });
      while (true) {
        const { value, done } = await events.next();
        if (done) {
          outcome = value;
          break;
        }
        searches.take(value);
        if (value.event === "row") {
          fruitless = 0;
          const { row } = value;
          const key = caseText(row.key);
          if (row.status === "ok") chosen[key] = row.config;
          if (repeats?.key === key) {
            const finished = repeats.take(value);
            if (finished === undefined) {
              outcome = "failed";
              break;
            }
            const { text } = repeats;
            repeats = undefined;
            if (finished.row.status === "wrong") wrong.add(kernelText(row.key));
            if (text) yield { event: "notice", text };
            skip.add(key);
            yield finished;
            continue;
          }
          skip.add(key);
        }
        if (value.event === "config" && isLoss(value)) {
          fruitless = 0;
          const { key, config, status, note } = value;
          crashed.push({ key, config, status, note });
          if (repeats?.inSearch) repeats = undefined;
        }
        yield value;
      }
    } finally {
      searches.stop();
      // Also if the caller stops reading events.
      await worker.end(outcome === "done" ? EXIT_MS : 0);
    }
    if (outcome === "done" || outcome === "aborted") return;
    if (outcome === "failed") continue;
    if ("doubted" in outcome) {
      repeats = new Repeats(outcome);
      continue;
    }
    if (fruitless++ < MOST_FRUITLESS) continue;
    const { said } = await worker.ending;
    throw new UserError(
      `Cannot run the worker: it ${outcome.gone} without a result, ${fruitless} times in a row; its last words: ${
        said.join(" | ") || "none"
      }`,
      EXIT.failed,
    );
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

/** Options of one worker. */
interface AttendOptions extends SuperviseOptions {
  /** The kernels that were wrong as the first of a worker; takes those of this one. */
  readonly wrong: Set<string>;
}

/** Yields the events of one worker, and a row for the case that ended it. */
async function* attend(
  worker: WorkerProcess,
  job: Job,
  options: AttendOptions,
): AsyncGenerator<Event, Outcome> {
  const { signal } = options;
  const state = new WorkerState(job, options);
  while (true) {
    const limit = state.limitMs;
    const event = await worker.next(limit, signal);
    if (signal?.aborted) return "aborted";
    if (event === "silent") {
      const seconds = limit / 1000;
      const outcome = state.outcomeOf(
        "timeout",
        `made no progress for ${seconds} s`,
      );
      if (outcome) return outcome;
      yield state.lose(
        "timeout",
        `${state.suspicion}: no progress for ${seconds} s (--timeout)`,
      );
      return "failed";
    }
    if (event === "ended") {
      const { how, said } = await worker.ending;
      const outcome = state.outcomeOf("crash", how);
      if (outcome) return outcome;
      const last = lastWords(said);
      yield state.lose("crash", `The worker ${how}${last ? ` (${last})` : ""}`);
      return "failed";
    }
    if (event.event === "alive") continue;
    const lost = state.missedRow(event);
    if (lost) yield lost;
    const outcome = state.take(event);
    if (outcome) return outcome;
    yield event;
    if (event.event === "done") return "done";
  }
}

/** The state of one worker, as far as its events tell. */
class WorkerState {
  readonly #job: Job;
  readonly #options: AttendOptions;
  /** The kernels that cases have run in this process. */
  readonly #ran = new Set<string>();
  #ready: Extract<Event, { event: "ready" }> | undefined;
  #current: Current | undefined;

  constructor(job: Job, options: AttendOptions) {
    this.#job = job;
    this.#options = options;
  }

  /** Milliseconds that it may now be silent. */
  get limitMs(): number {
    const { timeoutMs, idleMs = 600_000 } = this.#options;
    if (this.#current) return timeoutMs;
    return this.#ready ? idleMs : Math.min(idleMs, READY_MS);
  }

  /** The likeliest reason for its silence. */
  get suspicion(): string {
    switch (this.#current?.progress) {
      case "inputs":
        return "The inputs may need more time";
      case "reference":
        return "The reference may need more time";
      default:
        return "The kernel may hang";
    }
  }

  /** Returns the outcome of its end by `status`; undefined where the case at work is to blame. */
  outcomeOf(status: "crash" | "timeout", gone: string): Outcome | undefined {
    const current = this.#current;
    if (!current) return { gone };
    if (this.#ran.size === 0) return undefined;
    const { key: doubted, trying } = current;
    return { doubted, status, inSearch: trying !== undefined };
  }

  /** Makes the event of the case or config at work that is lost by `status`. */
  lose(status: "crash" | "timeout", what: string): Event {
    const { key, progress, trying } = this.#current!;
    const ready = this.#ready;
    this.#current = undefined;
    if (trying) return { event: "config", ...trying, status, note: what };
    const row: Row = {
      key,
      place: { device: ready?.device ?? "", arch: ready?.arch ?? "" },
      config: "",
      config_by: "",
      status,
      note: progress === undefined ? what : `${what}, during ${progress}`,
      provenance: {
        ...this.#options.provenance,
        ...(ready && { driver: ready.driver }),
        run: this.#job.run,
        schema: SCHEMA,
        time: this.#options.date?.() ?? new Date().toISOString(),
      },
    };
    return { event: "row", row };
  }

  /**
   * Makes the row of a case that `event` ends without one; undefined where none is missing. A line
   * that a kernel printed at the same moment can make a row unreadable.
   */
  missedRow({ event }: Event): Event | undefined {
    if (!this.#current || !["case", "restart", "done"].includes(event)) {
      return undefined;
    }
    this.#current = { key: this.#current.key };
    this.#use(this.#current.key);
    return this.lose(
      "crash",
      "The worker went on without a result that can be read",
    );
  }

  /**
   * Takes the next event. Returns the outcome of the worker where the event ends it and is not to
   * be passed on.
   *
   * @throws {UserError} Where the worker gives up.
   */
  take(event: Event): Outcome | undefined {
    const current = this.#current;
    switch (event.event) {
      case "fatal":
        throw new UserError(
          event.message,
          Object.values(EXIT).find((code) => code === event.code) ??
            EXIT.failed,
        );
      case "restart":
        return { gone: "asked for another" };
      case "ready":
        this.#ready = event;
        return undefined;
      case "case":
        this.#current = { key: event.key };
        return undefined;
      case "waits":
        // Its search ran kernels.
        this.#use(event.key);
        this.#current = undefined;
        return undefined;
      case "progress":
        if (current) {
          const { note: progress, trying } = event;
          this.#current = {
            key: current.key,
            ...(progress !== "" && { progress }),
            ...(trying && { trying }),
          };
        }
        return undefined;
      case "config":
        if (!isLoss(event)) return undefined;
        // The worker ends itself after that, and the case goes on in another.
        if (this.#ran.size > 0) {
          const { key: doubted, status } = event;
          return { doubted, status, inSearch: true };
        }
        this.#current = undefined;
        return undefined;
      case "tuned":
        if (current) this.#current = { key: current.key };
        return undefined;
      case "row": {
        const { key, status, note } = event.row;
        const { wrong } = this.#options;
        const kernel = kernelText(key);
        // What is suspect may be the host's: threads, memory, late work.
        const isOwn = status === "wrong" && !note.startsWith("suspect: ") &&
          [...this.#ran].every((other) => other === kernel);
        const isKnown = isOwn && wrong.has(kernel);
        if (this.#ran.size > 0 && !OWN.includes(status) && !isKnown) {
          const own = isOwn ? { own: event } : {};
          return { doubted: key, status, inSearch: false, ...own };
        }
        if (status === "wrong") wrong.add(kernel);
        if (!IDLE.includes(status)) this.#use(key);
        if (current && caseText(current.key) === caseText(key)) {
          this.#current = undefined;
        }
      }
    }
    return undefined;
  }

  /** Notes that a case has run its kernel; each peer has a process of its own. */
  #use(key: CaseKey): void {
    if (!this.#job.peers) this.#ran.add(kernelText(key));
  }
}

/** The repeats of a case that failed in a used worker, each in another. */
class Repeats {
  /** Of its case. */
  readonly key: string;
  /** Whether a config of its search failed. */
  readonly inSearch: boolean;
  readonly #status: Row["status"];
  readonly #own: Finished | undefined;
  readonly #right: Finished[] = [];
  #text: string | undefined;

  constructor({ doubted, status, inSearch, own }: Doubt) {
    this.key = caseText(doubted);
    this.inSearch = inSearch;
    this.#status = status;
    this.#own = own;
  }

  /** Says of its last repeat that all were right; nothing where one was not. */
  get text(): string | undefined {
    return this.#text;
  }

  /**
   * Takes the outcome of a repeat. Returns that of the case, which is the first of those that are
   * right, as this one had the search; undefined where the case is to be repeated once more.
   */
  take(event: Finished): Finished | undefined {
    const { row } = event;
    if (row.status !== "ok" && row.status !== "checked") {
      return this.#right.length === 0 ? event : noted(
        event,
        `right in ${this.#right.length} of ${
          this.#right.length + 1
        } processes of its own`,
      );
    }
    this.#right.push(event);
    // A config that a search lost may be another one than that of the row.
    if (this.#right.length < (this.inSearch ? 1 : REPEATS)) return undefined;
    if (this.#own) return noted(this.#own, OWN_STATE);
    const note = `${this.#status} once, ${RIGHT_ALONE}`;
    const { kernel, m, n, k } = row.key;
    this.#text = `${kernel} at ${m}×${n}×${k}: ${
      this.inSearch ? "a config of its search was " : ""
    }${note}`;
    return this.inSearch ? event : noted(this.#right[0]!, note);
  }
}

/** Returns `event` with `text` in the note of its row. */
function noted(event: Finished, text: string): Finished {
  const note = [event.row.note, text].filter((part) => part !== "").join("; ");
  return { ...event, row: { ...event.row, note } };
}

/** The most informative line: the message of an exception or a panic, else the last line. */
function lastWords(said: readonly string[]): string | undefined {
  return said.findLast((line) => /error(?: in [^:]*)?:/i.test(line)) ??
    said.at(-1);
}

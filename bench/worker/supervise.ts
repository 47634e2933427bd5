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
  /** A case or a config was lost, and it was said, or is repeated: go on with another worker. */
  | "failed"
  /** The first case of other workers must show whether this failure is its own. */
  | Doubt
  /** Why it is gone, where no case can be blamed. */
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

/** Statuses that no earlier kernel of the same process can cause. */
const OWN: readonly Row["status"][] = [
  ...["ok", "checked", "unsupported", "untuned", "compile"] as const,
];
/** Statuses of cases that ran no kernel. */
const IDLE: readonly Row["status"][] = ["unsupported", "untuned", "compile"];

/** Workers of its own in which a case that failed in a used one must be right. */
const REPEATS = 3;

/** The note on a kernel that is wrong only after its own calls at other shapes. */
const OWN_STATE =
  `right in ${REPEATS} processes of its own, wrong after its calls at other shapes: it keeps something between calls, or has a race`;

/** Milliseconds of silence in which a worker loads its suites or opens its device. */
const READY_MS = 60_000;
/** Workers that may be gone in a row without a result. */
const PATIENCE = 2;
/** Milliseconds for a worker that has said its last to end by itself. */
const FAREWELL_MS = 5_000;

/**
 * Runs `job` in a worker, and in another wherever one is lost, and yields what they say.
 *
 * A case that kills its worker gets a row with status `crash`, one that keeps it silent
 * for too long a row with status `timeout`. Where a search tries a config then, this
 * alone is lost: it gets a `config` event of that status, and the next worker searches
 * without it. `alive` and `restart` are not passed on, and `done` is the last event.
 *
 * A kernel that leaves something behind may make a later one fail. A failure therefore counts only
 * in a worker that ran no case before: after one in a used worker the case is run again as the first
 * of another, up to three times, as a race or uninitialised data in it need not show each time. A
 * repeat that fails is its row; else its row says that it failed once, or is wrong where the worker
 * had run no other kernel. After that, and where a kernel was wrong as the first of a worker, its
 * wrong results count in each worker that ran no other kernel. Peers have
 * processes of their own.
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
      // Also where whoever takes the events has had enough of them.
      await worker.end(outcome === "done" ? FAREWELL_MS : 0);
    }
    if (outcome === "done" || outcome === "aborted") return;
    if (outcome === "failed") continue;
    if ("doubted" in outcome) {
      repeats = new Repeats(outcome);
      continue;
    }
    if (fruitless++ < PATIENCE) continue;
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

/** Yields the events of one worker, and the row of the case that ended it. */
async function* attend(
  worker: WorkerProcess,
  { run, peers }: Job,
  options: SuperviseOptions & {
    /** The kernels that were wrong as the first of a worker; takes those of this one. */
    readonly wrong: Set<string>;
  },
): AsyncGenerator<Event, Outcome> {
  const { timeoutMs, idleMs = 600_000, signal, wrong } = options;
  /** The kernels that cases have run in this process. */
  const ran = new Set<string>();
  const use = (key: CaseKey) => {
    if (!peers) ran.add(kernelText(key));
  };
  let ready: Extract<Event, { event: "ready" }> | undefined;
  let current: Current | undefined;

  const lose = (status: "crash" | "timeout", what: string): Event => {
    const { key, progress, trying } = current!;
    current = undefined;
    if (trying) return { event: "config", ...trying, status, note: what };
    const row: Row = {
      key,
      place: { device: ready?.device ?? "", arch: ready?.arch ?? "" },
      config: "",
      config_by: "",
      status,
      note: progress === undefined ? what : `${what}, after ${progress}`,
      provenance: {
        ...options.provenance,
        ...(ready && { driver: ready.driver }),
        run,
        schema: SCHEMA,
        time: options.date?.() ?? new Date().toISOString(),
      },
    };
    return { event: "row", row };
  };

  while (true) {
    const limit = current
      ? timeoutMs
      : ready
      ? idleMs
      : Math.min(idleMs, READY_MS);
    const event = await worker.next(limit, signal);
    if (signal?.aborted) return "aborted";
    if (event === "silent") {
      const seconds = limit / 1000;
      if (!current) return { gone: `made no progress for ${seconds} s` };
      if (ran.size > 0) return doubtOf(current, "timeout");
      yield lose(
        "timeout",
        `The kernel may hang: no progress for ${seconds} s (--timeout)`,
      );
      return "failed";
    }
    if (event === "ended") {
      const { how, said } = await worker.ending;
      if (!current) return { gone: how };
      if (ran.size > 0) return doubtOf(current, "crash");
      const last = lastWords(said);
      yield lose("crash", `The worker ${how}${last ? ` (${last})` : ""}`);
      return "failed";
    }
    if (event.event === "alive") continue;
    const over = ["case", "restart", "done"].includes(event.event);
    if (over && current) {
      // Its row was lost, say among what a kernel printed at the same moment.
      current = { key: current.key };
      use(current.key);
      yield lose(
        "crash",
        "The worker went on without a result that can be read",
      );
    }
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
        ready = event;
        break;
      case "case":
        current = { key: event.key };
        break;
      case "waits":
        // Its search ran kernels.
        use(event.key);
        current = undefined;
        break;
      case "progress":
        if (current) {
          const { note: progress, trying } = event;
          current = { key: current.key, progress, ...(trying && { trying }) };
        }
        break;
      case "config":
        if (!isLoss(event)) break;
        // The worker ends itself after that, and the case goes on in another.
        if (ran.size > 0) {
          const { key: doubted, status } = event;
          return { doubted, status, inSearch: true };
        }
        current = undefined;
        break;
      case "tuned":
        if (current) current = { key: current.key };
        break;
      case "row": {
        const { key, status } = event.row;
        const kernel = kernelText(key);
        const isOwn = status === "wrong" &&
          [...ran].every((other) => other === kernel);
        const isKnown = isOwn && wrong.has(kernel);
        if (ran.size > 0 && !OWN.includes(status) && !isKnown) {
          const own = isOwn ? { own: event } : {};
          return { doubted: key, status, inSearch: false, ...own };
        }
        if (status === "wrong") wrong.add(kernel);
        if (!IDLE.includes(status)) use(key);
        if (current && caseText(current.key) === caseText(key)) {
          current = undefined;
        }
      }
    }
    yield event;
    if (event.event === "done") return "done";
  }
}

/** Doubts that a used worker is lost by what is at work. */
function doubtOf({ key, trying }: Current, status: Row["status"]): Doubt {
  return { doubted: key, status, inSearch: trying !== undefined };
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

/** The line that says most: of an exception its message, not the end of its stack. */
function lastWords(said: readonly string[]): string | undefined {
  return said.findLast((line) => /error:/i.test(line)) ?? said.at(-1);
}

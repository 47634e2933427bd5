/**
 * Attends one worker: yields its events, and a row for the case that ended it.
 *
 * @module
 */

import { EXIT, UserError } from "../model/errors.ts";
import { isLoss, type LostConfig } from "../tune/config_book.ts";
import {
  type CaseKey,
  caseText,
  kernelText,
  type Provenance,
  type Row,
  SCHEMA,
} from "../row/row.ts";
import type { Event, Job } from "./protocol.ts";
import type { Doubt } from "./repeats.ts";
import type { WorkerOptions, WorkerProcess } from "./worker_process.ts";

/** Options of all workers of a job. */
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
export type Outcome =
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

/** Statuses that an earlier kernel of the same process cannot cause. */
const OWN: readonly Row["status"][] = [
  ...["ok", "checked", "unsupported", "untuned", "compile"] as const,
];
/** Statuses of cases that ran no kernel. */
const IDLE: readonly Row["status"][] = ["unsupported", "untuned", "compile"];

/** Milliseconds without an event in which a worker may load its suites and open its device. */
const READY_MS = 60_000;

/** Options of one worker. */
interface AttendOptions extends SuperviseOptions {
  /** The kernels that were wrong as the first of a worker; takes those of this one. */
  readonly wrong: Set<string>;
}

/** Yields the events of one worker, and a row for the case that ended it. */
export async function* attend(
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

/** The most informative line: the message of an exception or a panic, else the last line. */
function lastWords(said: readonly string[]): string | undefined {
  return said.findLast((line) => /error(?: in [^:]*)?:/i.test(line)) ??
    said.at(-1);
}

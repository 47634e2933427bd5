/**
 * Starts a worker process and reads its output.
 *
 * @module
 */

import {
  adopted,
  isSettled,
  kill,
  killAdopted,
  killMarked,
  MARK,
} from "../files/run_program.ts";
import { EXIT, UserError } from "../model/errors.ts";
import { type Clock, realClock } from "./clock.ts";
import { type Event, type Job, RecordReader } from "./protocol.ts";
import { stripVTControlCharacters } from "node:util";

/** The end of a worker. */
interface Ending {
  /** `was killed by SIGSEGV`, `exited with code 3`. */
  readonly how: string;
  /** The last lines of its standard error, none of them blank or of a stack. */
  readonly said: readonly string[];
}

/** Lines of standard error that are remembered. */
const SAID_LINES = 5;
/** Characters of standard error among which they are looked for: a stack is long. */
const SAID_LENGTH = 1 << 14;
/** Milliseconds in which what a dead process wrote must have been read. */
export const DRAIN_MS = 500;
/** Milliseconds that the driver may take to free what a killed worker had. */
const DEATH_MS = 30_000;

/** The circumstances of a worker. */
export interface WorkerOptions {
  /** Takes what kernels print and what workers say on standard error; of very much, the beginning. */
  printed?(text: string): void;
  /** Measures how long a worker is silent. @default {the machine's} */
  readonly clock?: Clock;
  /**
   * Whether to kill children in sessions of their own that are no workers, where a worker ends:
   * orphans of kernels, in a process that adopts them and starts no others. @default {false}
   */
  readonly endsOrphans?: boolean;
}

/** A started worker, with a session of its own. */
export class WorkerProcess {
  /** Those that have not ended. */
  static readonly #living = new Set<number>();
  /** Children with sessions of their own that a program which uses this one started before. */
  readonly #strangers = adopted(WorkerProcess.#living);
  readonly #clock: Clock;
  readonly #endsOrphans: boolean;
  readonly #child: Deno.ChildProcess;
  readonly #events: Event[] = [];
  readonly #records: RecordReader;
  readonly #printed: PrintOut;
  readonly #ending: Promise<Ending>;
  readonly #mark = crypto.randomUUID();
  #errors = "";
  #ended = false;
  #wake: () => void = () => {};

  /**
   * Starts `command` and gives it `job` with a nonce of its own.
   *
   * @throws {UserError} Where it cannot be started.
   */
  constructor(
    command: readonly [string, ...string[]],
    job: Job,
    { printed = () => {}, clock = realClock, endsOrphans = false }:
      WorkerOptions,
  ) {
    this.#clock = clock;
    this.#endsOrphans = endsOrphans;
    const nonce = crypto.randomUUID();
    this.#printed = new PrintOut(printed);
    this.#records = new RecordReader({
      event: (event) => this.#events.push(event),
      printed: (text) => this.#printed.take(text),
    }, { nonce });
    this.#child = start(command, this.#mark);
    WorkerProcess.#living.add(this.#child.pid);
    // Standard input stays open: its end tells the worker that its parent is gone. Where
    // the worker is gone already, the write fails, and its ending says more than that.
    const told: Job = { ...job, nonce, group: this.#child.pid };
    this.#child.stdin.getWriter()
      .write(new TextEncoder().encode(`${JSON.stringify(told)}\n`))
      .catch(() => {});
    this.#ending = this.#watch();
  }

  /**
   * The next event; `ended` where there will be none, `silent` where none came for `ms`
   * milliseconds or `signal` was aborted.
   */
  async next(
    ms: number,
    signal?: AbortSignal,
  ): Promise<Event | "silent" | "ended"> {
    const { promise: silence, resolve } = Promise.withResolvers<"silent">();
    const fallSilent = () => resolve("silent");
    using _ = this.#clock.timer(ms, fallSilent);
    signal?.addEventListener("abort", fallSilent);
    if (signal?.aborted) fallSilent();
    try {
      while (true) {
        const event = this.#events.shift() ?? (this.#ended ? "ended" : null);
        if (event) return event;
        const news = new Promise<void>((wake) => this.#wake = wake);
        if (await Promise.race([news, silence]) === "silent") return "silent";
      }
    } finally {
      signal?.removeEventListener("abort", fallSilent);
    }
  }

  /** Waits until the worker has ended and all of its output has been read. */
  get ending(): Promise<Ending> {
    return this.#ending;
  }

  /**
   * Waits `ms` milliseconds for it to end by itself, then kills it and what it started.
   *
   * @throws {UserError} Where it outlives even that, as a process does that hangs in a
   * driver.
   */
  async end(ms: number): Promise<void> {
    if (await isSettled(this.#ending, ms)) return;
    kill(-this.#child.pid);
    if (await isSettled(this.#ending, DEATH_MS)) return;
    throw new UserError(
      `Cannot end worker ${this.#child.pid}: it hangs in the driver; end it and reset the device, then give the same command again to go on`,
      EXIT.failed,
    );
  }

  async #watch(): Promise<Ending> {
    const { stdout, stderr } = this.#child;
    const readers = [stdout.getReader(), stderr.getReader()] as const;
    const all = Promise.all([
      read(readers[0], (text) => {
        this.#records.push(text);
        this.#wake();
      }),
      read(readers[1], (text) => {
        this.#errors = (this.#errors + text).slice(-SAID_LENGTH);
        this.#printed.take(text);
      }),
    ]);
    const { code, signal } = await this.#child.status;
    // What it started may hold its pipes open, and outlive it.
    kill(-this.#child.pid);
    killMarked(this.#mark);
    WorkerProcess.#living.delete(this.#child.pid);
    if (this.#endsOrphans) {
      killAdopted(new Set([...WorkerProcess.#living, ...this.#strangers]));
    }
    if (!await isSettled(all, DRAIN_MS)) {
      await Promise.all(readers.map((reader) => reader.cancel()));
    }
    this.#records.end();
    this.#ended = true;
    this.#wake();
    return {
      how: signal ? `was killed by ${signal}` : `exited with code ${code}`,
      said: linesOf(this.#errors).slice(-SAID_LINES),
    };
  }
}

/** Lines that say something to a person. */
function linesOf(text: string): string[] {
  return text.split(/[\r\n]+/).map((line) => plainText(line).trim())
    .filter((line) => line !== "" && !/^at /.test(line));
}

function start(
  [program, ...args]: readonly [string, ...string[]],
  mark: string,
) {
  try {
    return new Deno.Command(program, {
      args,
      env: { [MARK]: mark },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      // A group of its own: an interrupt typed at the terminal must not look like a
      // kernel's crash, and compilers that the worker started end with it.
      detached: true,
    }).spawn();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(`Cannot start the worker ${program}: ${said}`);
  }
}

/** Passes on what comes, as text, until there is no more. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    take(decoder.decode(value, { stream: true }));
  }
}

/** Characters that one worker may print. */
const LIMIT = 1 << 16;

/** `text` without escapes and control characters, line feeds and tabs excepted. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[^\P{Cc}\t\n]/gu, "");
}

/** Passes on the first of what a worker prints, and says once that there is more. */
export class PrintOut {
  readonly #sink: (text: string) => void;
  #left = LIMIT;

  /** @param sink Takes what is passed on. */
  constructor(sink: (text: string) => void) {
    this.#sink = sink;
  }

  /** Takes the next piece. */
  take(text: string): void {
    if (this.#left < 0) return;
    const plain = plainText(text);
    const part = plain.slice(0, this.#left);
    if (part !== "") this.#sink(part);
    this.#left -= plain.length;
    if (this.#left < 0) {
      this.#sink(
        `\n(the worker printed more than ${LIMIT} characters: the rest is left out)\n`,
      );
    }
  }
}

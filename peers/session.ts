/**
 * Measures cases of peers by one Python after another, until each has its row.
 *
 * @module
 */

import { CaseError, UserError } from "../bench/model/errors.ts";
import { type PeerCase, PYTHON_VARIABLE } from "../bench/model/peer.ts";
import type { Problem } from "../bench/model/suite.ts";
import { type FailedRow, keyOf } from "../bench/row/row.ts";
import type { Emit } from "../bench/worker/protocol.ts";
import type { PeerInputs } from "./inputs.ts";
import {
  type PeerMessage,
  PeerProcess,
  type PeerTimed,
  programJob,
  ProtocolError,
} from "./process.ts";
import { failedPeerRow, type PeerContext, peerRow } from "./row.ts";

/** The parts of a session. */
export interface PeerSessionOptions {
  readonly context: PeerContext;
  readonly emit: Emit;
  readonly inputs: PeerInputs;
  /** Started in the place of our own program. */
  readonly program?: URL | undefined;
  /**
   * Milliseconds for Python to say its first word: PyTorch is slow to load, most of all from
   * a network.
   *
   * @default {240000}
   */
  readonly patienceMs?: number | undefined;
  /** Folder of the caches of Inductor and Triton. */
  readonly cacheDir: string;
  /** The binary of the harness's own kernels. */
  readonly instruments: string | undefined;
}

/** Starts of Python without a result after which it is given up. */
const PATIENCE = 2;
const FIRST_WORD_MS = 240_000;
const WAY_OUT =
  `name a Python that has PyTorch for CUDA and Triton with --python PATH or ${PYTHON_VARIABLE}`;

/** Measures cases, and goes on with another Python wherever one is lost. */
export class PeerSession {
  /** Milliseconds, by what for. */
  readonly spent = { build: 0, search: 0, check: 0, time: 0 };
  readonly #options: PeerSessionOptions;
  readonly #left = new Set<PeerCase>();
  #context: PeerContext;
  readonly #python: string;
  /** The case that Python is at. */
  #current: PeerCase | undefined;

  constructor(options: PeerSessionOptions) {
    this.#options = options;
    this.#context = options.context;
    this.#python = options.context.job.peers?.python ?? "python3";
  }

  /** Gives each of `cases` its row; those that their peer cannot run first. */
  async run(cases: readonly PeerCase[]): Promise<void> {
    for (const c of cases) {
      const note = c.unsupported(this.#context.assigned.info);
      if (note === undefined) this.#left.add(c);
      else this.#refuse(c, "unsupported", note);
    }
    this.#demandFlush();
    for (let fruitless = 0; this.#left.size > 0;) {
      const before = this.#left.size;
      const how = await this.#start();
      fruitless = this.#left.size < before ? 0 : fruitless + 1;
      if (fruitless === PATIENCE) {
        const note =
          `Cannot measure with ${this.#python}: its program ${how} before any result, ${PATIENCE} times in a row; ${WAY_OUT}`;
        this.#rest("crash", note);
      }
    }
  }

  /** @throws {UserError} Where the flush that is asked for cannot be built. */
  #demandFlush(): void {
    const { job: { settings }, assigned: { info } } = this.#context;
    const reads = settings.cache === "cold" && settings.flush === "read";
    if (!reads || this.#options.instruments !== undefined) return;
    throw new UserError(
      `--flush read needs a compiler for ${info.arch}; use --flush zero`,
    );
  }

  /** Starts Python; where it cannot be started, each case left says so in its row. */
  #spawn(): PeerProcess | string {
    const { program, cacheDir } = this.#options;
    const python = this.#python;
    try {
      return new PeerProcess(python, { log: `${cacheDir}/last.log`, program });
    } catch (error) {
      const why = error instanceof Error ? error.message : `${error}`;
      this.#rest("unsupported", `Cannot start ${python}: ${why}; ${WAY_OUT}`);
      return why;
    }
  }

  /** Works with one Python until it ends. @returns How it ended. */
  async #start(): Promise<string> {
    const process = this.#spawn();
    if (typeof process === "string") return process;
    const cases = [...this.#left];
    const problems = [...new Set(cases.map((c) => c.problem))];
    const { inputs: { folder: scratch }, ...options } = this.#options;
    const { job: { settings }, assigned: { info } } = this.#context;
    process.tell(
      programJob(cases, { ...options, settings, info, problems, scratch }),
    );
    const feeding = new AbortController();
    const fed = this.#feed(process, problems, feeding.signal);
    let broken: string | undefined;
    try {
      await this.#listen(process, cases);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      broken = error.message;
    } finally {
      feeding.abort();
      process.kill();
      await fed;
    }
    const ended = await process.ending();
    const how = broken ?? ended;
    if (this.#current) {
      const who = this.#current.runner === "peers"
        ? "The peers' program"
        : "Its Python";
      this.#fail(this.#current, "crash", `${who} ${how}`);
    }
    return how;
  }

  /** Takes all that Python says. @throws {ProtocolError} Where it says nothing, or nonsense. */
  async #listen(
    process: PeerProcess,
    cases: readonly PeerCase[],
  ): Promise<void> {
    const started = performance.now();
    const { patienceMs = FIRST_WORD_MS } = this.#options;
    let silent = false;
    const silence = setTimeout(() => {
      silent = true;
      process.kill();
    }, patienceMs);
    this.#current = undefined;
    try {
      for await (const message of process.messages()) {
        clearTimeout(silence);
        if (message.event === "case" && this.spent.build === 0) {
          this.spent.build = performance.now() - started;
        }
        this.#take(message, cases);
      }
    } finally {
      clearTimeout(silence);
    }
    if (silent) {
      throw new ProtocolError(`said nothing for ${patienceMs / 1000} s`);
    }
  }

  /** Hands over the inputs of each problem, between messages. */
  async #feed(
    process: PeerProcess,
    problems: readonly Problem[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const [problem, one] of problems.entries()) {
      await new Promise((resolve) => setTimeout(resolve));
      if (signal.aborted) return;
      const { paths } = this.#count(() => this.#options.inputs.get(one));
      process.tell({ problem, inputs: paths });
    }
  }

  #take(message: PeerMessage, cases: readonly PeerCase[]): void {
    const { emit } = this.#options;
    switch (message.event) {
      case "refused":
        this.#rest("unsupported", `${message.reason}, so ${WAY_OUT}`);
        break;
      case "hello": {
        const { torch, triton } = message;
        this.#context = { ...this.#context, torch, triton };
        break;
      }
      case "case":
        this.#current = this.#caseOf(message, cases);
        emit({ event: "case", key: keyOf(this.#current) });
        break;
      case "build":
      case "progress":
        emit(message);
        break;
      case "result": {
        const c = this.#caseOf(message, cases);
        if (message.status === "ok") this.#keep(c, message);
        else this.#fail(c, message.status, message.note);
        this.#current = undefined;
      }
    }
  }

  /** Makes the row of a case that Python ran. */
  #keep(c: PeerCase, told: PeerTimed): void {
    const { emit, inputs } = this.#options;
    this.spent.search += told.chosen_ms;
    this.spent.time += told.spent_ms;
    if (told.samples.length === 0 && !this.#context.job.settings.checkOnly) {
      throw new ProtocolError("gave a result without samples");
    }
    const row = this.#count(() => {
      const outputs = inputs.take(told.outputs);
      try {
        const right = inputs.get(c.problem).right();
        return peerRow(c, this.#context, { told, outputs, right });
      } catch (error) {
        if (!(error instanceof CaseError)) throw error;
        const { failure: status, message: note } = error;
        return failedPeerRow(c, this.#context, { status, note });
      }
    });
    this.#left.delete(c);
    emit({
      event: "row",
      row,
      ...(row.status === "ok" ? { samples: told.samples } : {}),
    });
  }

  /** The case that `message` is about, which has no row yet. */
  #caseOf(
    { id }: { readonly id: number },
    cases: readonly PeerCase[],
  ): PeerCase {
    const c = cases[id];
    if (c && this.#left.has(c)) return c;
    throw new ProtocolError(`spoke of case ${id}, which it was not to measure`);
  }

  #fail(c: PeerCase, status: FailedRow["status"], note: string): void {
    this.#left.delete(c);
    const row = failedPeerRow(c, this.#context, { status, note });
    this.#options.emit({ event: "row", row });
  }

  /** Makes the row of a case that Python is never given. */
  #refuse(c: PeerCase, status: FailedRow["status"], note: string): void {
    this.#options.emit({ event: "case", key: keyOf(c) });
    this.#fail(c, status, note);
  }

  /** The same failure for every case that has no row yet. */
  #rest(status: FailedRow["status"], note: string): void {
    for (const c of [...this.#left]) this.#refuse(c, status, note);
  }

  #count<T>(work: () => T): T {
    const start = performance.now();
    const result = work();
    this.spent.check += performance.now() - start;
    return result;
  }
}

/**
 * Cases of peers measured by one Python after another, until each has its row.
 *
 * @module
 */

import type { DeviceInfo } from "../bench/device/device.ts";
import { UserError } from "../bench/model/errors.ts";
import { type FailedRow, keyOf } from "../bench/row/row.ts";
import type { Case, Problem } from "../bench/model/suite.ts";
import { PYTHON_VARIABLE } from "./peer_cases.ts";
import type { PeerInputs } from "./inputs.ts";
import { peersProgramJob } from "./python_job.ts";
import { Misspoken, type PeerMessage, PeerProcess } from "./python_process.ts";
import { failedPeerRow, type PeerContext, peerRow } from "./peer_row.ts";
import type { Emit } from "../bench/worker/protocol.ts";

/** What a session is made of. */
export interface PeerSessionOptions {
  /** Every selected case: a dynamic graph serves those that differ in M alone. */
  readonly all: readonly Case[];
  readonly context: PeerContext;
  readonly emit: Emit;
  readonly info: DeviceInfo;
  readonly inputs: PeerInputs;
  readonly python: string;
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
const WAY_OUT =
  `name a Python that has PyTorch for CUDA and Triton with --python PATH or ${PYTHON_VARIABLE}`;

/** Measures cases, and goes on with another Python wherever one is lost. */
export class PeerSession {
  /** Milliseconds, by what for. */
  readonly spent = { build: 0, search: 0, check: 0, time: 0 };
  readonly #options: PeerSessionOptions;
  readonly #left = new Set<Case>();
  #context: PeerContext;

  constructor(options: PeerSessionOptions) {
    this.#options = options;
    this.#context = options.context;
  }

  /** Gives each of `cases` its row. */
  async run(cases: readonly Case[]): Promise<void> {
    for (const c of cases) this.#left.add(c);
    const { settings } = this.#context;
    const { instruments, info } = this.#options;
    const reads = settings.cache === "cold" && settings.flush === "read";
    if (reads && instruments === undefined) {
      throw new UserError(
        `--flush read needs a compiler for ${info.arch}; use --flush zero`,
      );
    }
    for (let fruitless = 0; this.#left.size > 0;) {
      const before = this.#left.size;
      const how = await this.#start();
      fruitless = this.#left.size < before ? 0 : fruitless + 1;
      if (fruitless === PATIENCE) {
        const note =
          `Cannot measure with ${this.#options.python}: its program ${how} before any result, ${PATIENCE} times in a row; ${WAY_OUT}`;
        this.#rest("crash", note);
      }
    }
  }

  /** Works with one Python until it ends. @returns How it ended. */
  async #start(): Promise<string> {
    const { python, program, cacheDir } = this.#options;
    let process: PeerProcess;
    try {
      Deno.mkdirSync(cacheDir, { recursive: true });
      process = new PeerProcess(python, {
        log: `${cacheDir}/last.log`,
        ...(program ? { program } : {}),
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : `${error}`;
      this.#rest("unsupported", `Cannot start ${python}: ${why}; ${WAY_OUT}`);
      return why;
    }
    const cases = [...this.#left];
    const problems = [...new Set(cases.map((c) => c.problem))];
    process.tell(
      peersProgramJob(cases, {
        ...this.#options,
        settings: this.#context.settings,
        problems,
      }),
    );
    const feeding = new AbortController();
    const fed = this.#feed(process, problems, feeding.signal);
    let current: Case | undefined;
    let misspoken: string | undefined;
    const started = performance.now();
    const { patienceMs = 240_000 } = this.#options;
    const silence = setTimeout(() => {
      misspoken = `said nothing for ${patienceMs / 1000} s`;
      process.kill();
    }, patienceMs);
    try {
      for await (const message of process.messages()) {
        clearTimeout(silence);
        if (message.event === "case") {
          current = this.#caseOf(message, cases);
          if (this.spent.build === 0) {
            this.spent.build = performance.now() - started;
          }
        }
        this.#take(message, cases);
        if (message.event === "result") current = undefined;
      }
    } catch (error) {
      if (!(error instanceof Misspoken)) throw error;
      misspoken = error.message;
    } finally {
      clearTimeout(silence);
      feeding.abort();
      process.kill();
      await fed;
    }
    const ended = await process.ending();
    const how = misspoken ?? ended;
    if (current) this.#fail(current, "crash", `The peers' program ${how}`);
    return how;
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

  #take(message: PeerMessage, cases: readonly Case[]): void {
    const { emit, inputs } = this.#options;
    switch (message.event) {
      case "refused":
        this.#rest("unsupported", `${message.reason}; ${WAY_OUT}`);
        break;
      case "hello": {
        const { torch, triton } = message;
        this.#context = { ...this.#context, torch, triton };
        break;
      }
      case "build":
        emit(message);
        break;
      case "case":
        emit({ event: "case", key: keyOf(this.#caseOf(message, cases)) });
        break;
      case "progress":
        emit(message);
        break;
      case "result": {
        const c = this.#caseOf(message, cases);
        if (message.status !== "ok") {
          return this.#fail(c, message.status, message.note);
        }
        this.spent.search += message.chosen_ms;
        this.spent.time += message.spent_ms;
        const row = this.#count(() => {
          const { right } = inputs.get(c.problem);
          const outputs = inputs.take(message.outputs);
          return peerRow(c, this.#context, { told: message, outputs, right });
        });
        this.#left.delete(c);
        emit({
          event: "row",
          row,
          ...(row.status === "ok" ? { samples: message.samples } : {}),
        });
      }
    }
  }

  /** The case that `message` is about, which has no row yet. */
  #caseOf({ id }: { readonly id: number }, cases: readonly Case[]): Case {
    const c = cases[id];
    if (c && this.#left.has(c)) return c;
    throw new Misspoken(`spoke of case ${id}, which it was not to measure`);
  }

  #fail(c: Case, status: FailedRow["status"], note: string): void {
    this.#left.delete(c);
    const row = failedPeerRow(c, this.#context, { status, note });
    this.#options.emit({ event: "row", row });
  }

  /** The same failure for every case that has no row yet. */
  #rest(status: FailedRow["status"], note: string): void {
    for (const c of [...this.#left]) {
      this.#options.emit({ event: "case", key: keyOf(c) });
      this.#fail(c, status, note);
    }
  }

  #count<T>(work: () => T): T {
    const start = performance.now();
    const result = work();
    this.spent.check += performance.now() - start;
    return result;
  }
}

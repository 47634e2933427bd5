/**
 * Runs the shards of a command as a job array of Slurm: submits them, follows them, and submits
 * again what a node lost. Slurm decides where and when; what a shard left in the folder of the run
 * decides whether it has ended.
 *
 * @module
 */

import { number, object } from "valibot";
import { onDisk, readIfThere, removeIfThere } from "../../bench/files/disk.ts";
import { jsonIn } from "../../bench/files/json_file.ts";
import { replaceFile } from "../../bench/files/replace.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { EXIT, type ExitCode, UserError } from "../../bench/model/errors.ts";
import {
  isAlive,
  type Job,
  jobsOf,
  nameOf,
  submit,
  USUAL_REASONS,
} from "./slurm_queue.ts";
import {
  type ArrayRun,
  filesOf,
  joinedFile,
  removeRun,
  scriptFile,
  scriptOf,
} from "./slurm_run.ts";

/** How far the shards are. */
export interface ArrayProgress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly note: string;
}

/** Takes what is found while shards run. */
export interface ArrayObserver {
  note(line: string): void;
  progress(state: ArrayProgress): void;
}

/** Options of following a run. */
export interface Following {
  readonly observer: ArrayObserver;
  /** Aborting it stops following: the jobs go on. */
  readonly signal: AbortSignal;
  /** Tells whether a shard that ended with code 1 or 3 did what it was asked for. */
  isWhole(index: number, code: number): boolean;
}

/** Jobs of a shard that may be lost in a row without a case done in between. */
const MOST_LOST = 3;
/** Milliseconds between two looks at the jobs: more and more while nothing changes. */
const LOOK_MS = { least: 500, most: 10_000, factor: 1.3 };
/** Milliseconds that a file of another host may need to be seen. */
const SEEN_MS = 10_000;

/**
 * Submits the shards that have neither ended nor a job, and follows all until they have ended.
 *
 * @returns The exit code of each shard; nothing where it was stopped.
 * @throws {UserError} Where Slurm is not there or refuses, and where a shard did not end: what it
 * measured is kept.
 */
export async function follow(
  run: ArrayRun,
  options: Following,
): Promise<readonly number[] | undefined> {
  const { observer, signal } = options;
  onDisk(run.folder, () => Deno.mkdirSync(run.folder, { recursive: true }));
  if (readIfThere(joinedFile(run)) !== undefined) removeRun(run);
  replaceFile(scriptFile(run), scriptOf(run, Deno.cwd()));
  let jobs: readonly Job[] | undefined = await jobsOf(run, signal);
  const follower = new Follower(run, options, jobs);
  let wait = LOOK_MS.least;
  let before = "";
  while (true) {
    const state = follower.look(jobs ?? []);
    observer.progress(state);
    if (follower.isDone) return follower.codes;
    if (jobs !== undefined) {
      const wanted = follower.lost(jobs);
      if (wanted.length > 0) await submit(run, wanted, signal);
      else if (follower.isOver && !jobs.some(isAlive)) throw follower.error();
    }
    const now = JSON.stringify(state);
    wait = now === before
      ? Math.min(LOOK_MS.most, wait * LOOK_MS.factor)
      : LOOK_MS.least;
    before = now;
    await pause(wait, signal);
    if (signal.aborted) return undefined;
    try {
      jobs = await jobsOf(run, signal);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (signal.aborted) return undefined;
      // The shards go on without whoever manages the queue.
      jobs = undefined;
      follower.tellOnce(`${error.message}; trying again`);
    }
  }
}

/** Decides from the files of shards and from their jobs what has ended, and what to submit. */
class Follower {
  readonly #run: ArrayRun;
  readonly #options: Following;
  readonly #shards: readonly number[];
  readonly #codes = new Map<number, number>();
  readonly #failures = new Map<number, Failure>();
  /** The jobs of a shard that were lost since it got on, and how many cases it had done then. */
  readonly #tries = new Map<number, { lost: number; done: number }>();
  /** Since when a shard has no job. */
  readonly #gone = new Map<number, number>();
  readonly #told = new Set<string>();
  /** Jobs that had ended before. */
  readonly #old: Set<string>;

  constructor(run: ArrayRun, options: Following, jobs: readonly Job[]) {
    this.#run = run;
    this.#options = options;
    this.#shards = Array.from({ length: run.count }, (_, i) => i + 1);
    this.#old = new Set(jobs.filter((job) => !isAlive(job)).map(nameOf));
    for (const index of this.#shards) {
      const { exit } = filesOf(run, index);
      const code = codeIn(exit);
      // What failed as a whole is tried again.
      if (code !== undefined && !this.#isEnd(index, code)) {
        onDisk(exit, () => removeIfThere(exit));
      }
    }
  }

  /** Whether all shards did what they were asked for. */
  get isDone(): boolean {
    return this.#codes.size === this.#run.count && this.#failures.size === 0;
  }

  /** Whether no shard is left that may still do so. */
  get isOver(): boolean {
    return this.#shards.every((index) =>
      this.#codes.has(index) || this.#failures.has(index)
    );
  }

  /** The exit codes of the shards that have ended. */
  get codes(): readonly number[] {
    return this.#shards.flatMap((index) => this.#codes.get(index) ?? []);
  }

  /** The error of the shards that failed. */
  error(): UserError {
    const codes = new Set([...this.#failures.values()].map(({ code }) => code));
    return new UserError(
      `${this.#failures.size} of ${
        counted(this.#run.count, "shard")
      } did not end, as said above: the same command submits them again`,
      codes.size === 1 ? [...codes][0]! : EXIT.failed,
    );
  }

  /** Says `line` unless it was said before. */
  tellOnce(line: string): void {
    if (!this.#told.has(line)) this.#options.observer.note(line);
    this.#told.add(line);
  }

  /** Reads the files of the shards. @returns How far they are. */
  look(jobs: readonly Job[]): ArrayProgress {
    for (const index of this.#shards) {
      if (this.#codes.has(index)) continue;
      const code = codeIn(filesOf(this.#run, index).exit);
      if (code === undefined) continue;
      this.#codes.set(index, code);
      if (this.#isEnd(index, code)) this.#failures.delete(index);
      else this.#fail(index, failureOf(this.#run, index, code));
    }
    return stateOf(this.#run, { codes: this.#codes, jobs });
  }

  /** Returns the shards to submit: those that have no job, and may end by another one. */
  lost(jobs: readonly Job[]): readonly number[] {
    const alive = Map.groupBy(jobs.filter(isAlive), ({ index }) => index);
    for (const { reason } of [...alive.values()].flat()) {
      if (reason === "" || USUAL_REASONS.has(reason)) continue;
      this.tellOnce(
        `Jobs wait, as Slurm says: ${reason}; \`squeue --name=${this.#run.job}\` shows them`,
      );
    }
    return this.#shards.filter((index) => {
      if (this.#codes.has(index) || this.#failures.has(index)) return false;
      if (!alive.has(index)) return this.#isLost(index, jobs);
      this.#gone.delete(index);
      return false;
    });
  }

  /** Returns whether to submit shard `index`, which has no job and has not ended. */
  #isLost(index: number, jobs: readonly Job[]): boolean {
    const known = jobs.filter((job) =>
      job.index === index && !this.#old.has(nameOf(job))
    );
    const done = progressOf(this.#run, index)?.done ?? 0;
    const before = this.#tries.get(index);
    if (known.length > 0 || before !== undefined) {
      const since = this.#gone.get(index) ?? performance.now();
      this.#gone.set(index, since);
      if (performance.now() - since < SEEN_MS) return false;
      const state = known.at(-1)?.state;
      const lost = before !== undefined && done <= before.done
        ? before.lost + 1
        : 1;
      const what = `Shard ${index} of ${this.#run.count}`;
      const end = endOf(state, lost);
      if (end !== undefined) {
        this.#fail(index, { line: `${what} ${end}`, code: EXIT.failed });
        return false;
      }
      this.#options.observer.note(
        `${what} was lost (${
          state ?? "Slurm knows it no more"
        }) and is submitted again`,
      );
      this.#tries.set(index, { lost, done });
    } else this.#tries.set(index, { lost: 0, done });
    this.#gone.delete(index);
    return true;
  }

  #isEnd(index: number, code: number): boolean {
    return code === EXIT.ok ||
      (code === EXIT.failed || code === EXIT.nothing) &&
        this.#options.isWhole(index, code);
  }

  #fail(index: number, failure: Failure): void {
    this.#failures.set(index, failure);
    this.#options.observer.note(failure.line);
  }
}

/** Why a shard did not do what it was asked for. */
interface Failure {
  readonly line: string;
  readonly code: ExitCode;
}

function failureOf(run: ArrayRun, index: number, code: number): Failure {
  const { log } = filesOf(run, index);
  const said = (readIfThere(log) ?? "").split("\n")
    .findLast((line) => line.startsWith("error: "))?.slice("error: ".length);
  return {
    line: `Shard ${index} of ${run.count} failed with code ${code}: ${
      said ?? `see ${log}`
    }`,
    code: Object.values(EXIT).find((known) => known === code && known > 0) ??
      EXIT.failed,
  };
}

/** Says why a shard whose job ended in `state` is not submitted again; nothing where it is. */
function endOf(state: string | undefined, times: number): string | undefined {
  const kept = "its rows are kept: the same command goes on with it";
  if (state === "CANCELLED") return `was cancelled; ${kept}`;
  if (state === "TIMEOUT" || state === "DEADLINE") {
    return `hit its time limit; ${kept}, with a longer --time if you give one`;
  }
  if (state === "OUT_OF_MEMORY") {
    return `took more memory than its job has; ${kept}, with SBATCH_MEM_PER_NODE set to more`;
  }
  if (times <= MOST_LOST) return undefined;
  return `was lost ${times} times, at last as ${
    state ?? "Slurm knew it no more"
  }; ${kept} where the nodes can see this folder`;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
  await promise;
  signal.removeEventListener("abort", end);
  clearTimeout(timer);
}

const progressSchema = object({
  done: number(),
  total: number(),
  failed: number(),
});

function progressOf(run: ArrayRun, index: number) {
  const text = readIfThere(filesOf(run, index).progress);
  return text === undefined ? undefined : jsonIn(progressSchema, text);
}

/** Sums up how far the shards are. Of one that has not begun as much is expected as of others. */
function stateOf(
  run: ArrayRun,
  { codes, jobs }: {
    readonly codes: ReadonlyMap<number, number>;
    readonly jobs: readonly Job[];
  },
): ArrayProgress {
  const known = Array.from(
    { length: run.count },
    (_, i) => progressOf(run, i + 1),
  ).filter((one) => one !== undefined);
  const sum = (of: (one: typeof known[number]) => number) =>
    known.reduce((total, one) => total + of(one), 0);
  const total = known.length === 0
    ? 0
    : Math.round(sum(({ total }) => total) * run.count / known.length);
  const open = jobs.filter(({ index }) => !codes.has(index)).filter(isAlive);
  const pending = open.filter(({ state }) => state === "PENDING").length;
  const parts = [
    `${codes.size} of ${counted(run.count, "shard")} ended`,
    ...(open.length > pending ? [`${open.length - pending} running`] : []),
    ...(pending > 0 ? [`${pending} pending`] : []),
  ];
  return {
    done: sum(({ done }) => done),
    total,
    failed: sum(({ failed }) => failed),
    note: parts.join(", "),
  };
}

function codeIn(path: string): number | undefined {
  const text = readIfThere(path)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

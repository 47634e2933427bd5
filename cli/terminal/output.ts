/**
 * Writes data to standard output, messages and progress to standard error.
 *
 * @module
 */

import { fstatSync } from "node:fs";
import process from "node:process";
import { UserError } from "../../bench/model/errors.ts";
import {
  assertWritable,
  type FileKind,
  refuseOther,
  replaceFile,
} from "../../bench/files/replace.ts";
import { ancestorNamed } from "../../bench/files/run_program.ts";
import { shownJson } from "../../bench/files/json_file.ts";
import { listenBetween } from "../../session/suite_calls.ts";
import { recordOf } from "../../bench/row/csv.ts";
import { flatRow } from "../../bench/row/flat_row.ts";
import type { Row } from "../../bench/row/row.ts";
import {
  folded,
  shortened,
  visible,
  visiblePainted,
  widthOf,
} from "../../bench/files/terminal_text.ts";

// Not what suite files find there: that writes to standard error.
const { log } = console;

/** Sends to standard error what functions of suite files print: standard output is data. */
export function keepPrintsApart(): void {
  const { error } = console;
  Object.assign(console, { log: error, info: error, debug: error });
}

/**
 * Writes a line of data. A reader that has gone, as `head` does, had what it wanted.
 *
 * @throws {UserError} Where the line cannot be written, as on a full disk.
 */
export function say(line: string): void {
  sayAsIs(shown(line, Deno.stdout));
}

/**
 * Writes a line as it is, for text that is from no file: NULs separate shell completions.
 *
 * @throws {UserError} As {@linkcode say} does.
 */
export function sayAsIs(line: string): void {
  try {
    log(line);
  } catch (error) {
    // With the code of bad surroundings: others say what was found, as `diff` does.
    throw new UserError(
      `Cannot write to standard output: ${
        error instanceof Error ? error.message : error
      }; send it elsewhere`,
    );
  }
}

/** Writes a line of talk. */
export function tell(line: string): void {
  talk(`${shown(line, Deno.stderr)}\n`);
}

/** Writes a sentence of talk in lines that fit the terminal. One with a command to copy stays whole. */
export function tellFolded(sentence: string): void {
  const { width } = screenOf(Deno.stderr);
  for (const line of folded(sentence, width, "  ")) tell(line);
}

/**
 * `text` without what would do anything to who reads it but paint: much of it is from files.
 */
export function shown(text: string, stream: Stream): string {
  return stream.isTerminal() ? visiblePainted(text) : visible(text);
}

/** Writes `text` of talk, as it is; nothing where standard error is closed or full. */
function talk(text: string): void {
  try {
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  } catch {
    // Talk is for a person who is no longer there, and there is nowhere left to say so:
    // measuring goes on, and what it finds is kept.
  }
}

/** The abilities of a stream. */
export interface Screen {
  readonly color: boolean;
  /** Columns; infinite where nothing wraps. */
  readonly width: number;
}

/** A standard stream. */
export type Stream = typeof Deno.stdout | typeof Deno.stderr;

const USUAL_WIDTH = 80;

/** Returns the abilities of `stream`: no colour on a pipe or under `NO_COLOR`. */
export function screenOf(stream: Stream): Screen {
  const terminal = stream.isTerminal();
  return {
    color: terminal && !Deno.noColor,
    width: terminal ? columns() : Infinity,
  };
}

function columns(): number {
  try {
    // A terminal that was given no size says 0.
    return Deno.consoleSize().columns || USUAL_WIDTH;
  } catch {
    // Standard input, output and error are all something else, or the size is unknown.
    return USUAL_WIDTH;
  }
}

/** Formats `row` as one line of JSON: the columns of the CSV, with numbers as numbers. */
export function jsonRow(row: Row): string {
  return shownJson(flatRow(recordOf(row)));
}

/** The state of a command at work. */
export interface State {
  readonly title: string;
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** The case at work. */
  readonly note: string;
  /** Seconds since the start. */
  readonly elapsed: number;
  /** Steps that were done before the start. @default {0} */
  readonly before?: number;
  /** Seconds until the end. @default {as many for each step as until now} */
  readonly left?: number | undefined;
}

/** A change of the state. */
export type Change = Partial<
  Pick<State, "done" | "total" | "failed" | "note" | "left">
>;

/** The place where progress is shown, and its clock. */
export interface Show {
  /** Columns now: a window may change its size. */
  width(): number;
  /** True where the last line can be written again. */
  readonly terminal: boolean;
  write(text: string): void;
  /** Milliseconds since any start. */
  now(): number;
  /** Calls `work` now and then, until what it returns is called. */
  repeat(work: () => void): () => void;
}

const BAR = 24;
/** Seconds between two lines where there is no terminal. */
const LINE_EVERY = 5;
/** Seconds between two looks of the bar: more often would be work for nobody's eye. */
const BAR_EVERY = 0.1;
/** Goes to the beginning of the line, and clears all from there on. */
const CLEAR = "\r\x1b[J";

/**
 * `state` on one line, at most `width` columns wide.
 *
 * @example
 * ```ts
 * import { formatState } from "./output.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const state = { title: "bench", done: 3, total: 12, failed: 1, note: "naive", elapsed: 6 };
 * strictEqual(formatState(state), "bench 3/12, 1 failed, 18 s left, naive");
 * ```
 */
export function formatState(
  { title, done, total, failed, note, elapsed, before = 0, ...more }: State,
  { bar = false, width = Infinity }: { bar?: boolean; width?: number } = {},
): string {
  const full = total > 0 ? Math.round(BAR * done / total) : 0;
  const head = bar
    ? `${title} ${"█".repeat(full)}${"░".repeat(BAR - full)} `
    : `${title} `;
  const usual = done > before
    ? elapsed / (done - before) * (total - done)
    : undefined;
  const seconds = "left" in more ? more.left : usual;
  const left = seconds !== undefined && done < total
    ? `${formatSeconds(seconds)} left`
    : "";
  const parts = [
    `${done}/${total}`,
    failed > 0 ? `${failed} failed` : "",
    left,
    note,
  ];
  const line = head + parts.filter((part) => part !== "").join(", ");
  return shortened(line, width);
}

/**
 * `seconds` for people.
 *
 * @example
 * ```ts
 * import { formatSeconds } from "./output.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatSeconds(5.4), "5 s");
 * strictEqual(formatSeconds(200), "3 min 20 s");
 * strictEqual(formatSeconds(7380), "2 h 3 min");
 * ```
 */
export function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Standard error. */
function standardError(): Show {
  return {
    width: () => screenOf(Deno.stderr).width,
    // A pager at the end of a pipe writes to the same terminal.
    terminal: Deno.stderr.isTerminal() && !isPiped(),
    write: talk,
    now: () => performance.now(),
    repeat(work) {
      const timer = setInterval(work, 500);
      return () => clearInterval(timer);
    },
  };
}

/** Returns whether another program reads standard output. */
function isPiped(): boolean {
  try {
    return fstatSync(1).isFIFO();
  } catch {
    // It is closed, so nobody reads it.
    return false;
  }
}

let progressFile: string | undefined;

const PROGRESS: FileKind = { head: /^\{"done":/, name: "progress file" };

/**
 * Has every {@linkcode Progress} written into the file at `path` too, as JSON.
 *
 * @throws {UserError} Where it cannot be written, or a file of another kind is there.
 */
export function progressTo(path: string): void {
  refuseOther(path, PROGRESS);
  assertWritable(path);
  progressFile = path;
}

/** Writes how far a command is for whoever scheduled it. */
function report(
  { done, total, failed }: Pick<State, "done" | "total" | "failed">,
): void {
  if (progressFile === undefined) return;
  try {
    replaceFile(progressFile, `${JSON.stringify({ done, total, failed })}\n`);
  } catch (error) {
    // As talk(): measuring goes on without it.
    if (!(error instanceof UserError)) throw error;
  }
}

/** Progress of one command. Disposing it leaves the line to others. */
export class Progress implements Disposable {
  readonly #show: Show;
  readonly #start: number;
  readonly #before: number;
  readonly #stop: () => void;
  #state: Omit<State, "elapsed" | "before">;
  #shown: number;
  /** Columns of the bar that is there; 0 without one. */
  #bar = 0;

  /**
   * @param title The command.
   * @param total How many steps there are, as far as is known.
   * @param options `done`: steps done before; `show`: where, standard error by default.
   */
  constructor(
    title: string,
    total: number,
    { done = 0, show = standardError() }: { done?: number; show?: Show } = {},
  ) {
    this.#show = show;
    this.#start = this.#shown = show.now();
    this.#before = done;
    this.#state = { title, done, total, failed: 0, note: "" };
    // A case at work says nothing for long, and the time that is left changes.
    this.#stop = show.repeat(() => this.update({}));
  }

  /** Takes `change` in, and shows it if it is time to. */
  update(change: Change): void {
    this.#state = { ...this.#state, ...change };
    const now = this.#show.now();
    const every = this.#show.terminal ? BAR_EVERY : LINE_EVERY;
    if (now - this.#shown < every * 1000) return;
    this.#shown = now;
    this.#draw();
  }

  /** One more step is done. */
  step(change: Change = {}): void {
    this.update({ ...change, done: this.#state.done + 1 });
  }

  /** Writes a line that stays. */
  print(line: string): void {
    this.#clear();
    // A note or what a kernel printed: nobody knows what is in it.
    this.#show.write(`${shown(line, Deno.stderr)}\n`);
  }

  /** Takes the bar away; shows the last state where there is no terminal. */
  [Symbol.dispose](): void {
    this.#stop();
    this.#state = { ...this.#state, note: "" };
    if (this.#show.terminal) {
      this.#clear();
      report(this.#state);
    } else this.#draw();
  }

  #clear(): void {
    if (this.#bar > 0) this.#show.write(this.#away());
    this.#bar = 0;
  }

  /** Returns what takes the bar away: a window that became narrower has wrapped it. */
  #away(): string {
    if (this.#bar === 0) return "";
    const above = Math.ceil(this.#bar / this.#show.width()) - 1;
    return `${above > 0 ? `\x1b[${above}A` : ""}${CLEAR}`;
  }

  #draw(): void {
    report(this.#state);
    const { terminal, write, now } = this.#show;
    const elapsed = (now() - this.#start) / 1000;
    const state = { ...this.#state, before: this.#before, elapsed };
    if (!terminal) return write(`${formatState(state)}\n`);
    const line = formatState(state, { bar: true, width: this.#show.width() });
    write(`${this.#away() || CLEAR}${line}`);
    this.#bar = widthOf(line);
  }
}

/** What schedulers and service managers send to end a program; Windows has nothing like it. */
const TERMINATE = Deno.build.os === "windows" ? [] : ["SIGTERM"] as const;
/** The exit codes of programs that a signal ended. */
const STOPPED = { SIGINT: 128 + 2, SIGTERM: 128 + 15 };
/** The code of the signal that stopped the work; missing where none did. */
let stopped: number | undefined;

/** The exit code by which `git bisect run` skips a commit. */
export const SKIP = 125;

/** Returns the exit code of the program: `code`, unless a signal stopped what gave it. */
export function exitCode(code: number): number {
  return stopped ?? code;
}

/**
 * Returns the exit code of the program after an error of `code`. With `--bisect` any error says
 * nothing of the commit, and every other code would be taken for a verdict.
 */
export function errorCode(code: number): number {
  return exitCode(Deno.args.includes("--bisect") ? SKIP : code);
}

/**
 * Milliseconds after a signal in which others are copies of it: the terminal sends Ctrl-C to the
 * whole group of processes, and npx and `deno task` forward theirs.
 */
const COPIES_MS = 1000;

/** Milliseconds between two looks whether npx is there. */
const LOOK_MS = 500;

/** Returns whether a process is there. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Aborted by the first Ctrl-C or SIGTERM; one a second later ends the program at once. */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  #leaving: ReturnType<typeof setTimeout> | undefined;
  readonly #interrupt = () => this.#stop("SIGINT");
  readonly #terminate = () => this.#stop("SIGTERM");

  #stop(signal: keyof typeof STOPPED): void {
    if (this.#leaving !== undefined) return;
    stopped = STOPPED[signal];
    const leaving = setTimeout(() => this[Symbol.dispose](), COPIES_MS);
    leaving.unref();
    this.#leaving = leaving;
    this.#controller.abort();
  }

  readonly #npx = setInterval(() => {
    // It ends by SIGTERM without a word to what it started.
    if (this.#launcher !== undefined && !isThere(this.#launcher)) {
      this.#terminate();
    }
  }, LOOK_MS);
  readonly #launcher = Deno.env.get("npm_command") === "exec"
    ? ancestorNamed("npm")
    : undefined;

  readonly #listening: Disposable;

  /** Listens from now on. */
  constructor() {
    Deno.unrefTimer(this.#npx);
    this.#listening = listenBetween({
      listen: () => {
        Deno.addSignalListener("SIGINT", this.#interrupt);
        for (const name of TERMINATE) {
          Deno.addSignalListener(name, this.#terminate);
        }
      },
      leave: () => {
        Deno.removeSignalListener("SIGINT", this.#interrupt);
        for (const name of TERMINATE) {
          Deno.removeSignalListener(name, this.#terminate);
        }
      },
    });
  }

  /** The signal for long work. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Leaves the signal to others. */
  [Symbol.dispose](): void {
    clearTimeout(this.#leaving);
    clearInterval(this.#npx);
    this.#listening[Symbol.dispose]();
  }
}

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
  escapeAllButColors,
  escapeControls,
  shortened,
  widthOf,
  wrapText,
} from "../../bench/files/terminal_text.ts";

// Taken before `keepPrintsApart()` replaces it by a function that writes to standard error.
const { log } = console;

/** Makes functions of suite files print to standard error: standard output is for data alone. */
export function keepPrintsApart(): void {
  const { error } = console;
  Object.assign(console, { log: error, info: error, debug: error });
}

/**
 * Writes a line of data to standard output, without control characters. A reader that closed the
 * pipe, as `head` does, is no error.
 *
 * @throws {UserError} Where the line cannot be written, as on a full disk.
 */
export function printLine(line: string): void {
  printRawLine(withoutControls(line, Deno.stdout));
}

/**
 * Writes a line of data with its control characters, for text that is not from a file: NULs
 * separate shell completions.
 *
 * @throws {UserError} As {@linkcode printLine} does.
 */
export function printRawLine(line: string): void {
  try {
    log(line);
  } catch (error) {
    // A UserError has the exit code of a wrong environment; other codes are verdicts, as of `diff`.
    throw new UserError(
      `Cannot write to standard output: ${
        error instanceof Error ? error.message : error
      }; send it elsewhere`,
    );
  }
}

/** Writes a message to standard error, without control characters. */
export function logLine(line: string): void {
  writeLog(`${withoutControls(line, Deno.stderr)}\n`);
}

/** Writes a message to standard error, wrapText to the width of the terminal. */
export function logWrapped(sentence: string): void {
  const { width } = screenOf(Deno.stderr);
  for (const line of wrapText(sentence, width, "  ")) logLine(line);
}

/** Returns `text` with control characters escaped, as it may be from a file. A terminal gets colours. */
export function withoutControls(text: string, stream: Stream): string {
  return takesEscapes(stream) ? escapeAllButColors(text) : escapeControls(text);
}

/** Writes `text` to standard error; does nothing if standard error is closed or full. */
function writeLog(text: string): void {
  try {
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  } catch {
    // Nobody reads messages any more, and there is no other place for an error. Measuring goes on,
    // and its rows are kept.
  }
}

/** Colour and width of a stream. */
export interface Screen {
  readonly color: boolean;
  /** Columns; infinite where nothing wraps. */
  readonly width: number;
}

/** A standard stream. */
export type Stream = typeof Deno.stdout | typeof Deno.stderr;

const USUAL_WIDTH = 80;

/**
 * Returns whether `stream` is a terminal with escape sequences. One that names itself `dumb`, as the
 * shell of Emacs does, or not at all shows them as text.
 */
function takesEscapes(stream: Stream): boolean {
  if (!stream.isTerminal()) return false;
  const term = Deno.env.get("TERM") ?? "";
  // Terminals of Windows set no TERM.
  return term === "" ? Deno.build.os === "windows" : term !== "dumb";
}

/** Returns colour and width of `stream`: no colour on a pipe, a dumb terminal or under `NO_COLOR`. */
export function screenOf(stream: Stream): Screen {
  return {
    color: takesEscapes(stream) && !Deno.noColor,
    width: stream.isTerminal() ? columns() : Infinity,
  };
}

function columns(): number {
  try {
    // A terminal without a size reports 0.
    return Deno.consoleSize().columns || USUAL_WIDTH;
  } catch {
    // None of the standard streams is a terminal, or its size is unknown.
    return USUAL_WIDTH;
  }
}

/** Formats `row` as one line of JSON: the columns of the CSV, with numbers as numbers. */
export function jsonRow(row: Row): string {
  return shownJson(flatRow(recordOf(row)));
}

/** The progress of a running command. */
export interface State {
  readonly title: string;
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** The running case. */
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

/** The output of progress, and its clock. */
export interface Show {
  /** Columns. They change with the size of the window. */
  width(): number;
  /** True if the last line can be overwritten. */
  readonly terminal: boolean;
  write(text: string): void;
  /** Milliseconds since an arbitrary start. */
  now(): number;
  /** Calls `work` regularly. The function that it returns ends that. */
  repeat(work: () => void): () => void;
}

const BAR = 24;
/** Seconds between two progress lines without a terminal. */
const LINE_EVERY = 5;
/** Seconds between two updates of the progress bar. */
const BAR_EVERY = 0.1;
/** Moves the cursor to the start of the line, and clears the screen from there. */
const CLEAR = "\r\x1b[J";

/**
 * Formats `state` on one line, at most `width` columns wide.
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
 * Formats a duration in seconds, minutes or hours.
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
    // If standard output is a pipe, a pager at its end may write to the same terminal.
    terminal: takesEscapes(Deno.stderr) && !isPiped(),
    write: writeLog,
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
    // Standard output is closed.
    return false;
  }
}

let progressFile: string | undefined;

const PROGRESS: FileKind = { head: /^\{"done":/, name: "progress file" };

/**
 * Makes every {@linkcode Progress} write its state into the file at `path` too, as JSON.
 *
 * @throws {UserError} Where it cannot be written, or a file of another kind is there.
 */
export function progressTo(path: string): void {
  refuseOther(path, PROGRESS);
  assertWritable(path);
  progressFile = path;
}

/** Writes the progress into the file of {@linkcode progressTo}, if there is one. */
function report(
  { done, total, failed }: Pick<State, "done" | "total" | "failed">,
): void {
  if (progressFile === undefined) return;
  try {
    replaceFile(progressFile, `${JSON.stringify({ done, total, failed })}\n`);
  } catch (error) {
    // As writeLog(): measuring goes on without it.
    if (!(error instanceof UserError)) throw error;
  }
}

/** Shows the progress of one command. Disposing it removes the bar. */
export class Progress implements Disposable {
  readonly #show: Show;
  readonly #start: number;
  readonly #before: number;
  readonly #stop: () => void;
  #state: Omit<State, "elapsed" | "before">;
  #shown: number;
  /** Columns of the bar that is on the screen; 0 without one. */
  #bar = 0;

  /**
   * @param title The command.
   * @param total The number of steps, as far as it is known.
   * @param options `done`: steps done before; `show`: the output, standard error by default.
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
    // The time that is left changes although a long case sends no event.
    this.#stop = show.repeat(() => this.update({}));
  }

  /** Applies `change`, and shows the state unless it was shown a moment ago. */
  update(change: Change): void {
    this.#state = { ...this.#state, ...change };
    const now = this.#show.now();
    const every = this.#show.terminal ? BAR_EVERY : LINE_EVERY;
    if (now - this.#shown < every * 1000) return;
    this.#shown = now;
    this.#draw();
  }

  /** Counts one more step, and applies `change`. */
  step(change: Change = {}): void {
    this.update({ ...change, done: this.#state.done + 1 });
  }

  /** Writes a line above the bar. */
  print(line: string): void {
    this.#clear();
    // The line may be output of a kernel, with control characters.
    this.#show.write(`${withoutControls(line, Deno.stderr)}\n`);
  }

  /** Removes the bar; without a terminal, writes the last state. */
  [Symbol.dispose](): void {
    this.#stop();
    this.#state = { ...this.#state, note: "" };
    if (this.#show.terminal) {
      this.#clear();
      report(this.#state);
    } else this.#draw();
  }

  #clear(): void {
    if (this.#bar > 0) this.#show.write(this.#removal());
    this.#bar = 0;
  }

  /** Returns the text that removes the bar, which takes several lines if the window became narrower. */
  #removal(): string {
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
    write(`${this.#removal() || CLEAR}${line}`);
    this.#bar = widthOf(line);
  }
}

/** The signal by which schedulers and service managers end a program. Windows has none. */
const TERMINATE = Deno.build.os === "windows" ? [] : ["SIGTERM"] as const;
/** The exit codes of programs that a signal ended. */
const STOPPED = { SIGINT: 128 + 2, SIGTERM: 128 + 15 };
/** The exit code of the signal that stopped the command; undefined if none did. */
let stopped: number | undefined;

/** The exit code by which `git bisect run` skips a commit. */
export const SKIP = 125;

/** Returns the exit code of the program: that of the signal that stopped it, else `code`. */
export function exitCode(code: number): number {
  return stopped ?? code;
}

/**
 * Returns the exit code of the program after an error of `code`. With `--bisect` it is
 * {@linkcode SKIP}: an error is no verdict on the commit, as every other code would be.
 */
export function errorCode(code: number): number {
  return exitCode(Deno.args.includes("--bisect") ? SKIP : code);
}

/**
 * Milliseconds in which further signals are copies of the first: the terminal sends Ctrl-C to the
 * whole process group, and npx and `deno task` forward it too.
 */
const COPIES_MS = 1000;

/** Milliseconds between two checks that npx is still running. */
const CHECK_NPX_MS = 500;

/** Returns whether a process is running. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Aborts its signal at the first Ctrl-C or SIGTERM. One a second later ends the program at once. */
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
    // If SIGTERM ends npx, npx does not forward the signal.
    if (this.#launcher !== undefined && !isRunning(this.#launcher)) {
      this.#terminate();
    }
  }, CHECK_NPX_MS);
  readonly #launcher = Deno.env.get("npm_command") === "exec"
    ? ancestorNamed("npm")
    : undefined;

  readonly #listening: Disposable;

  /** Starts to listen. */
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

  /** The abort signal for long work. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops listening: the signals have their usual effect again. */
  [Symbol.dispose](): void {
    clearTimeout(this.#leaving);
    clearInterval(this.#npx);
    this.#listening[Symbol.dispose]();
  }
}

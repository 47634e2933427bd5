/**
 * Loads suite files of users, which run as they are loaded and may do anything then. An
 * error of theirs that nothing catches ends the program with one line.
 *
 * @module
 */

import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { backends } from "../backends/mod.ts";
import { brief, UserError } from "../bench/model/errors.ts";
import type { Suite } from "../bench/model/suite.ts";
import { unlessMissing } from "../bench/files/disk.ts";
import { within } from "../bench/files/run_program.ts";
import { watchCalls } from "./suite_calls.ts";
import type { LastWord } from "./suite_guard.ts";

/**
 * Longer than any file needs that only says what there is: with six busy processes beside it a trial
 * that compiles this program took 7 s on two cores.
 */
export const LIMIT_MS = 20_000;
/** Longer than any function of a suite needs that only says what it has at one point. */
const CALL_LIMIT_MS = 60_000;

/** Ends the program with a message. Missing where a program uses this one as a library. */
let end: ((message: string) => never) | undefined;
/** The line of a program that cannot say it itself, and where it goes. */
interface LastLine {
  readonly to: "stdout" | "stderr";
  text(message: string): string;
}

let lastLine: LastLine | undefined;
/** True once the program has done its work, so that exits are its own. */
let isDone = false;

/**
 * Has `ender` end the program with the line of an uncaught error. To be called once.
 *
 * @param last Makes the line about a file that loops for ever, after which the program is killed.
 * @default {it is not killed}
 */
export function onFatal(
  ender: (message: string) => never,
  last?: LastLine,
): void {
  end = ender;
  lastLine = last;
}

/** Says that the program has done its work and may exit. */
export function allowExit(): void {
  isDone = true;
}

/** Files that were loaded or are being loaded, by URL, as they were named. */
const files = new Map<string, string>();
/** Those whose first run is not over. */
const loading = new Set<string>();

/**
 * Loads the suite that `file` exports.
 *
 * @throws {UserError} Where it cannot be loaded, is none, or does not end.
 */
export async function importSuite(
  file: string,
  limitMs = LIMIT_MS,
): Promise<Suite> {
  const path = resolve(file);
  let module: { readonly default?: unknown };
  try {
    // Better than a module that is not found.
    const info = unlessMissing(() => Deno.statSync(path));
    if (info === undefined) {
      throw new Error(`there is no file ${path}`);
    }
    // What never ends would fill the memory.
    if (!info.isFile) throw new Error("it is not a regular file; name another");
    if (OTHER_LANGUAGE.test(path)) {
      throw new Error(
        "it is neither TypeScript nor JavaScript; a kernel file is .c, .cu, .hip, .metal or .py, and a suite file can name other sources",
      );
    }
    module = await run(pathToFileURL(path).href, { file, limitMs });
  } catch (error) {
    throw unloadable(file, error);
  }
  if (isSuite(module.default)) return withBackends(module.default, file);
  throw new UserError(
    `Cannot use the suite file ${file}: its default export is not a suite; write \`export default defineSuite({ … })\``,
  );
}

/** Extensions of files that are not modules. */
const OTHER_LANGUAGE =
  /\.(?:cc|cpp|cxx|cuh|h|hh|hpp|ptx|cubin|hsaco|cl|so|csv|json)$/;

/** Runs the module at `url`, watched. */
async function run(
  url: string,
  { file, limitMs }: { file: string; limitMs: number },
): Promise<{ readonly default?: unknown }> {
  watch();
  using _ = await guard(file, limitMs);
  files.set(url, file);
  loading.add(file);
  const isWhole = watchBuiltIns();
  using prints = new Prints();
  try {
    // Without a limit a promise that nobody settles would end the program without a word.
    const module = await within(limitMs, {
      work: import(url),
      late: () => late(limitMs),
    });
    if (!isWhole()) {
      throw new Error(
        "it changes or freezes built-in objects; leave them as they are",
      );
    }
    if (prints.first !== undefined) throw new Error(printing(prints.first));
    return module;
  } finally {
    loading.delete(file);
  }
}

/** Returns what tells whether built-in objects are as they are now. */
function watchBuiltIns(): () => boolean {
  const all: object[] = [
    ...[Object, Array, Map, Set, Promise, String, Number, RegExp, Function]
      .flatMap((one) => [one, one.prototype]),
    ...[JSON, Math, Reflect],
  ];
  const isOpen = Object.isExtensible;
  const { ownKeys, getOwnPropertyDescriptor: find } = Reflect;
  const look = () =>
    all.flatMap((one) =>
      ownKeys(one).flatMap((key) => {
        const { value, get, set, writable, configurable } = find(one, key)!;
        return [key, value, get, set, writable, configurable];
      })
    );
  const before = look();
  return () => {
    if (![globalThis, ...all].every((one) => isOpen(one))) return false;
    const now = look();
    return now.length === before.length &&
      now.every((one, i) => Object.is(one, before[i]));
  };
}

/** Keeps what is printed from the output, which may be data, until it is disposed of. */
class Prints {
  /** What was printed first. */
  first: string | undefined;
  readonly #before = { ...console };

  constructor() {
    const take = (...parts: readonly unknown[]) => {
      this.first ??= parts.map(String).join(" ");
    };
    const { debug, error, info, log, warn } = this.#before;
    for (const name of Object.keys({ debug, error, info, log, warn })) {
      Object.assign(console, { [name]: take });
    }
  }

  [Symbol.dispose](): void {
    Object.assign(console, this.#before);
  }
}

/** Says that a file prints `text`. */
export function printing(text: string): string {
  const line = JSON.stringify(text.trim().split("\n")[0]!.slice(0, 40));
  return `it prints ${line} while it is loaded; leave out console.log() and console.error()`;
}

/** Kills the program where `file` keeps this thread busy for a second longer than `limitMs`. */
async function guard(
  file: string,
  limitMs: number,
): Promise<Disposable | undefined> {
  if (lastLine === undefined) return undefined;
  const { to, text } = lastLine;
  // After the limit of what can be waited for.
  const ms = limitMs + 1_000;
  const last = { ms, to, text: text(unloadable(file, late(ms)).message) };
  const thread = await startGuard();
  thread.postMessage(last satisfies LastWord);
  return { [Symbol.dispose]: () => thread.terminate() };
}

async function startGuard(): Promise<Worker> {
  const url = new URL("suite_guard.ts", import.meta.url);
  const thread = new Worker(url, { type: "module" });
  await new Promise((resolve, reject) => {
    thread.onmessage = resolve;
    thread.onerror = reject;
  });
  return thread;
}

let isLimited = false;

/**
 * Kills the program from now on where a function of a suite file takes longer than `limitMs`.
 * Nothing where no file is loaded, and where a program uses this one as a library.
 *
 * @param isFree Whether calls that begin now may take any time. @default {none may}
 */
export async function limitCalls(
  limitMs = CALL_LIMIT_MS,
  isFree = () => false,
): Promise<void> {
  if (lastLine === undefined || isLimited || files.size === 0) return;
  isLimited = true;
  const { to, text } = lastLine;
  const thread = await startGuard();
  let told = -Infinity;
  watchCalls({
    begin() {
      if (isFree()) return;
      // A sweep has 100,000 calls, and a message takes microseconds.
      if (performance.now() - told < limitMs / 60) return;
      told = performance.now();
      const file = [...files.values()].join(" or ");
      const { message } = refused("use", file, tooLong(limitMs));
      const last = { ms: limitMs, to, text: text(message) };
      thread.postMessage(last satisfies LastWord);
    },
    end() {
      if (told === -Infinity) return;
      told = -Infinity;
      thread.postMessage(null);
    },
  });
}

function tooLong(limitMs: number): string {
  return `a function of it did not return within ${
    limitMs / 1000
  } s; do not loop in it for anything that may not come`;
}

/** Makes the error for a file that takes longer than `limitMs` milliseconds. */
export function late(limitMs: number): Error {
  return new Error(
    `it did not end within ${
      limitMs / 1000
    } s; do not loop or wait in it for anything that may not come`,
  );
}

let watching = false;

/**
 * Attributes uncaught errors to the suite file that caused them, and ends the program with
 * them, as a file does that calls `Deno.exit()` while it is loaded.
 */
function watch(): void {
  if (watching || end === undefined) return;
  watching = true;
  const fail = end;
  const accuse = (event: Event, error: unknown) => {
    const file = culpritOf(error);
    if (file === undefined) return;
    event.preventDefault();
    allowExit();
    fail(unusable(file, error).message);
  };
  addEventListener(
    "unhandledrejection",
    (event) => accuse(event, event.reason),
  );
  addEventListener("error", (event) => accuse(event, event.error));
  addEventListener("unload", () => {
    const [file] = isDone ? [] : [...loading, ...files.values()];
    if (file === undefined) return;
    allowExit();
    // The exit that it asked for may be of success, and not all was measured.
    fail(
      unusable(file, "it ends the program; leave out Deno.exit()").message,
    );
  });
}

/** The suite file that caused `error`; nothing for a bug of ours, which stays one. */
function culpritOf(error: unknown): string | undefined {
  const stack = error instanceof Error ? error.stack ?? "" : "";
  const named = [...files].find(([url]) => stack.includes(url))?.[1];
  // What is no error has no stack. Ours are errors.
  return named ?? (error instanceof Error ? undefined : first());
}

/**
 * Returns `error` as a mistake of the suite file whose code threw it; any other as it is. Of an
 * error that is deeper in a call of the file it does not say whose mistake it is.
 */
export function attributed(error: unknown): unknown {
  if (error instanceof UserError) return error;
  const { stack = "" } = error instanceof Error ? error : {};
  const [, url = ""] = /^\s*at (?:.*\()?(file:\S+?):\d+:\d+/m.exec(stack) ?? [];
  const file = error instanceof Error ? files.get(url) : first();
  return file === undefined ? error : unusable(file, error);
}

function first(): string | undefined {
  return files.values().next().value;
}

/** Makes the error for a `file` that cannot be loaded because of `error`, with its place. */
export function unloadable(file: string, error: unknown): UserError {
  return refused("load", file, error);
}

/** Makes the same error, also for what a file does once it is loaded. */
function unusable(file: string, error: unknown): UserError {
  return refused(loading.has(file) ? "load" : "use", file, error);
}

function refused(what: string, file: string, error: unknown): UserError {
  const why = error instanceof Error ? error.message : textOf(error);
  return new UserError(
    `Cannot ${what} the suite file ${file}${placeOf(file, error)}: ${
      reasonOf(why)
    }`,
  );
}

/** Characters of what was thrown, at most. */
const MOST_SHOWN = 200;

/** Formats what was thrown and is no error. */
function textOf(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  try {
    return brief(JSON.stringify(thrown), MOST_SHOWN);
  } catch {
    return "an object that is no error";
  }
}

/** Says what to do where Deno names a flag, which would not help here. */
function reasonOf(why: string): string {
  const [, missing] =
    /(?:not found in [^"]*|import access to )"([^"]+)"/.exec(why) ?? [];
  if (missing !== undefined) {
    return `it imports ${missing}, which is not on this machine, and nothing is downloaded; save it as a file and import that`;
  }
  const [, access] = /^Requires (\w+ access.*), run again with/.exec(why) ?? [];
  if (access !== undefined) {
    return `it needs ${access}, and it may only read while it is loaded; leave that to a function of its kernel`;
  }
  return why.split("\n")[0]!;
}

/** Returns line and column of `error` as `:3:8`, after the file's name if it is another one. */
function placeOf(file: string, error: unknown): string {
  if (!(error instanceof Error)) return "";
  const own = pathToFileURL(resolve(file)).href;
  const [first = "", ...more] = error.message.split("\n");
  if (/file:\S+:\d+:\d+/.test(first)) return "";
  // Errors of syntax name their place in the message, all others in the stack.
  const [, url, place] = /\bat (file:\S+?):(\d+:\d+)/.exec(more.join("\n")) ??
    [];
  if (place !== undefined) {
    return url === own ? `:${place}` : ` (${fileURLToPath(url!)}:${place})`;
  }
  const frame = (error.stack ?? "").split(`${own}:`)[1];
  const [at] = /^\d+:\d+/.exec(frame ?? "") ?? [];
  return at === undefined ? "" : `:${at}`;
}

/** @throws {UserError} Where a kernel is for a backend that there is not: it would never run. */
function withBackends(suite: Suite, file: string): Suite {
  const all = Object.keys(backends);
  const stray = suite.kernels.find(({ backend }) => !all.includes(backend));
  if (stray === undefined) return suite;
  throw new UserError(
    `Cannot use the suite file ${file}: its kernel ${stray.name} is for the backend ${stray.backend}; there are ${
      all.join(", ")
    }`,
  );
}

function isSuite(value: unknown): value is Suite {
  return typeof value === "object" && value !== null &&
    "name" in value && typeof value.name === "string" &&
    "kernels" in value && Array.isArray(value.kernels) &&
    "cases" in value && typeof value.cases === "function";
}

/**
 * Tries suite files of users in a process of their own before the program loads them: one that
 * downloads, writes, prints, loops or ends its process is refused with one line.
 *
 * The program loads a file itself only after that, because the cases that it makes have
 * functions, which no process can give to another. There it may write and run programs.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import {
  ProgramError,
  type ProgramOutput,
  runProgram,
} from "../bench/files/run_program.ts";
import { writeAll } from "../bench/files/write_all.ts";
import { UserError } from "../bench/model/errors.ts";
import { importFlags } from "./home.ts";
import {
  allowExit,
  importSuite,
  late,
  LIMIT_MS,
  onFatal,
  printing,
  unloadable,
} from "./suite_file.ts";

/** Flags of `deno run` for a trial: none to write, run, load libraries or use the network. */
const FLAGS: readonly string[] = [
  "--quiet",
  "--no-prompt",
  "--cached-only",
  "--allow-read",
  "--allow-env",
  "--allow-sys",
];

/** Milliseconds for what a file does once it is loaded. */
const LINGER_MS = 500;

/** The trials of this process, by file. */
const trials = new Map<string, Promise<void>>();

/**
 * Loads `file` in another process, once.
 *
 * @throws {UserError} If it cannot be loaded, does not end within `limitMs` milliseconds, or
 * does more than to define a suite.
 */
export function trySuite(file: string, limitMs = LIMIT_MS): Promise<void> {
  const trial = trials.get(file) ?? runTrial(file, limitMs);
  trials.set(file, trial);
  return trial;
}

async function runTrial(file: string, limitMs: number): Promise<void> {
  const mark = crypto.randomUUID();
  const { stdout, stderr, code } = await outputOf(file, mark, limitMs);
  const [printed = "", verdict] = stdout.split(mark);
  if (verdict === undefined) {
    throw unloadable(file, `its process ended with code ${code}`);
  }
  if (verdict !== "") throw new UserError(verdict);
  const text = printed + stderr;
  if (text !== "") throw unloadable(file, printing(text));
}

async function outputOf(
  file: string,
  mark: string,
  limitMs: number,
): Promise<ProgramOutput> {
  const program = fileURLToPath(import.meta.url);
  try {
    return await runProgram(Deno.execPath(), {
      args: ["run", ...FLAGS, ...importFlags(), program, file, mark],
      limitMs,
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw unloadable(file, error.late ? late(limitMs) : error);
  }
}

/** Loads the file of the first argument and prints the second, then what is wrong. */
async function main([file = "", mark = ""]: readonly string[]): Promise<void> {
  const end = (message: string): never => {
    allowExit();
    writeAll(Deno.stdout, new TextEncoder().encode(mark + message));
    Deno.exit(0);
  };
  onFatal(end);
  try {
    await importSuite(file);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    end(error.message);
  }
  // Comes once nothing is left to do, also what a file does later than its last line.
  addEventListener("beforeunload", () => end(""));
  const lingers =
    "it keeps a timer, a Worker or a file at work; end what it starts";
  Deno.unrefTimer(
    setTimeout(() => end(unloadable(file, lingers).message), LINGER_MS),
  );
}

if (import.meta.main) await main(Deno.args);

/**
 * Reads damaged files in a process that may hang or fail: for each line of JSON on its standard
 * input it runs a command, reads the file, and writes the outcome behind what the command
 * printed.
 *
 * @module
 */

import { createInterface } from "node:readline";
import process from "node:process";
import { CaseError, UserError } from "../../../bench/model/errors.ts";
import { main, unexpected } from "../../../cli/main.ts";
import { kindsIn, makeGoodFiles, SWEEP, sweepHere } from "./kinds.ts";

/** A file to read. */
export interface Request {
  readonly kind: string;
  /** The files of the workspace. */
  readonly files: readonly string[];
  /** The arguments of the command; none for a reading alone. */
  readonly args: readonly string[];
}

/** The outcome of a request. */
export interface Reply {
  /** The exit code of the command; of a reading alone 0 or 2. */
  readonly code: number;
  /** What the reading gave, as JSON; missing where it was refused. */
  readonly value?: string;
}

/** The argument that has the good files made first. */
export const MAKE = "--make";
/** Stands before the reply, on both outputs. */
export const MARK = "\x1e";

async function answer({ kind, files, args }: Request): Promise<Reply> {
  const { reading } = kindsIn(files)[kind]!;
  const code = args.length > 0 ? await exitCodeOf(() => run(args)) : 0;
  // Nothing was published then.
  if (args[0] === SWEEP && code !== 0) return { code };
  let value: string | undefined;
  const read = await exitCodeOf(async () => {
    value = JSON.stringify(await reading());
    return 0;
  }, args.length > 0);
  return {
    code: args.length > 0 ? code : read,
    ...(value === undefined ? {} : { value }),
  };
}

function say(reply: Reply): void {
  console.error(MARK);
  console.log(`${MARK}${JSON.stringify(reply)}`);
}

async function run(args: readonly string[]): Promise<number> {
  if (args[0] !== SWEEP) return await main(args);
  await sweepHere();
  return 0;
}

/** Runs `work` as the program does. @param again Whether the error may have been printed. */
async function exitCodeOf(
  work: () => Promise<number>,
  again = false,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isRefusal = error instanceof UserError || error instanceof CaseError;
    const text = isRefusal ? error.message : unexpected(error);
    if (!isRefusal || !again) console.error(`error: ${text}`);
    return error instanceof UserError ? error.code : isRefusal ? 2 : 1;
  }
}

if (import.meta.main) {
  if (Deno.args.includes(MAKE)) await makeGoodFiles();
  // It is ready.
  say({ code: 0 });
  for await (const line of createInterface({ input: process.stdin })) {
    const reply = await answer(JSON.parse(line) as Request);
    say(reply);
  }
}

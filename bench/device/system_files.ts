/**
 * Reads what Linux tells of the machine in files below `/sys`.
 *
 * @module
 */

import { ProgramError, runProgramSync } from "../files/run_program.ts";

/** Milliseconds for a program that reads them. */
const LIMIT_MS = 20_000;

/**
 * Returns the text of the files at `paths`, one after another, without those that are missing;
 * nothing where none can be read. Deno reads there with every permission only; without, `cat` does.
 */
export function systemText(paths: readonly string[]): string {
  const texts: string[] = [];
  for (const path of paths) {
    try {
      texts.push(Deno.readTextFileSync(path));
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) return textByCat(paths);
      // Others may have text.
      if (!(error instanceof Error)) throw error;
    }
  }
  return texts.join("");
}

function textByCat(paths: readonly string[]): string {
  try {
    const run = { args: paths, limitMs: LIMIT_MS };
    return runProgramSync("cat", run).stdout;
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return "";
  }
}

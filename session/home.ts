/**
 * Paths and names of the program, and of what its user types.
 *
 * @module
 */

import { isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };

/** The program's name. */
export const NAME = "mnkbench";
/** Its version. */
export const VERSION: string = config.version;
/** The folder that has `deno.json`, the sources and the kernels built by default. */
export const HOME: string = fileURLToPath(new URL("../", import.meta.url));

/** The folder of recorded results, where the program runs. */
export const RESULTS = "results";
/** The folder of unfinished runs, where the program runs. */
export const RUNS = ".runs";
/** The folder of the rows that were measured last unless they are put elsewhere. */
export const LATEST = `${RUNS}/latest`;

/** Returns the folder of built kernels: `chosen`, or the program's own. */
export function kernelCacheOf(chosen: string | undefined): string {
  return chosen === undefined ? join(HOME, ".cache") : resolve(chosen);
}

/** Returns the file of the timing cache: `chosen`, or the one beside the built kernels. */
export function timingCacheOf(
  chosen: string | undefined,
  kernelCache: string | undefined,
): string {
  return chosen === undefined
    ? join(kernelCacheOf(kernelCache), "timings.json")
    : resolve(chosen);
}

/** Formats `command` as the user would type it, given how the program was started. */
export function typed(command: string): string {
  // Deno's task runner sets it, as npm's does.
  const start = Deno.env.get("INIT_CWD");
  if (start === undefined) return `${NAME} ${command}`;
  const npx = /[/\\]_npx[/\\]/.test(Deno.execPath());
  const deno = npx ? `npx -y deno@${Deno.version.deno}` : "deno";
  // From a folder of the project Deno finds its tasks, from another it must be told.
  const outside = relative(HOME, resolve(start)).startsWith("..");
  const config = outside ? ` --config ${join(HOME, "deno.json")}` : "";
  return `${deno} task${config} ${command}`;
}

/** Quotes `text` where a shell would not take it as one word. */
export function quoted(text: string): string {
  return /^[\w./@:=+-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Resolves `path` from the folder where the command was typed. A task runs in the program's
 * folder; INIT_CWD names the folder where it was started.
 */
export function fromHere(path: string): string {
  return resolve(Deno.env.get("INIT_CWD") ?? ".", path);
}

/**
 * Returns `path`, as it was typed, so that it can be used from the folder of the user and from
 * that of the program: absolute where the two differ.
 */
export function asTyped(path: string): string {
  return isElsewhere() ? fromHere(path) : path;
}

/** Returns a default `path`, such as `results`, in the folder where the program runs. */
export function ofProgram(path: string): string {
  return isElsewhere() && !isAbsolute(path) ? resolve(path) : path;
}

/** Returns whether the user's folder is another than that in which the program runs. */
function isElsewhere(): boolean {
  const start = Deno.env.get("INIT_CWD");
  return start !== undefined && resolve(start) !== Deno.cwd();
}

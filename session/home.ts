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

/** The folder of results unless told otherwise, where the program runs. */
export const RESULTS = "results";

/** The folder of built kernels: `chosen`, or the program's own. */
export function kernelCacheOf(chosen: string | undefined): string {
  return chosen === undefined ? join(HOME, ".cache") : resolve(chosen);
}

/** The file of timings: `chosen`, or beside the built kernels. */
export function timingCacheOf(
  chosen: string | undefined,
  kernelCache: string | undefined,
): string {
  return chosen === undefined
    ? join(kernelCacheOf(kernelCache), "timings.json")
    : resolve(chosen);
}

/** How the user would type `command`, given how the program was started. */
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
 * `path` from the folder where the command was typed. A task runs in the program's folder
 * and says in INIT_CWD where it was started.
 */
export function fromHere(path: string): string {
  return resolve(Deno.env.get("INIT_CWD") ?? ".", path);
}

/**
 * Where `path`, as it was typed, leads: itself where that is clear, else absolute, so that
 * it can be used from the folder of the user as well as from that of the program.
 */
export function asTyped(path: string): string {
  return isElsewhere() ? fromHere(path) : path;
}

/** `path` in the folder where the program runs, a default that nobody typed: `results`. */
export function ofProgram(path: string): string {
  return isElsewhere() && !isAbsolute(path) ? resolve(path) : path;
}

/** Whether the command was typed in a folder other than that in which the program runs. */
function isElsewhere(): boolean {
  const start = Deno.env.get("INIT_CWD");
  return start !== undefined && resolve(start) !== Deno.cwd();
}

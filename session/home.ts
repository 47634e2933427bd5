/**
 * Paths, names and permissions of the program, and what its user types.
 *
 * @module
 */

import { isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readable, unlessMissing } from "../bench/files/disk.ts";
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

/** The file that says in an archive of `build --pack` which commit it is of. */
export const COMMIT_FILE = ".commit";

/**
 * The file that says, in the npm package alone, what suite files outside of it import by the
 * program's name; in a clone `deno.json` does.
 */
export const IMPORT_MAP_FILE = "import_map.json";

/** Returns whether the program is the npm package: JavaScript, without `deno.json`. */
export function isPackage(): boolean {
  const file = join(HOME, IMPORT_MAP_FILE);
  return unlessMissing(() => Deno.lstatSync(file)) !== undefined;
}

/** Returns the flags by which another process of the program finds what suite files import. */
export function importFlags(): readonly string[] {
  return isPackage() ? ["--import-map", join(HOME, IMPORT_MAP_FILE)] : [];
}

/** The folder where the user typed the command, and how the program was started there. */
interface Start {
  readonly folder: string;
  /** Whether `deno task` started it. */
  readonly isTask: boolean;
  /** Whether it is installed: started neither in its own folder nor by its task. */
  readonly isInstalled: boolean;
}

let start: Start | undefined;

/** Finds out how the program was started, which a change of the working directory hides. */
function started(): Start {
  if (start !== undefined) return start;
  const cwd = Deno.cwd();
  const typedIn = Deno.env.get("INIT_CWD");
  // A task runs in the folder of its `deno.json`. Scripts of npm set the variable too.
  const isTask = typedIn !== undefined && resolve(cwd) === resolve(HOME);
  const isInstalled = isOutside(cwd) &&
    unlessMissing(() => Deno.lstatSync(join(HOME, COMMIT_FILE))) === undefined;
  start = { folder: isTask ? resolve(typedIn) : cwd, isTask, isInstalled };
  return start;
}

function isOutside(folder: string): boolean {
  const path = relative(HOME, resolve(folder));
  return path.startsWith("..") || isAbsolute(path);
}

/**
 * Goes to the folder where the user typed the command: `deno task` starts the program in the
 * folder of its `deno.json`.
 *
 * @throws {UserError} Where that folder is gone.
 */
export function goWhereTyped(): void {
  const { folder } = started();
  readable(folder, () => Deno.chdir(folder));
}

/** Returns the folder of built kernels: `chosen`, or the usual one. */
export function kernelCacheOf(chosen: string | undefined): string {
  if (chosen !== undefined) return resolve(chosen);
  return started().isInstalled ? userCache() : join(HOME, ".cache");
}

/**
 * Returns the program's folder among the user's caches: by the XDG Base Directory Specification,
 * and on macOS where Apple's File System Programming Guide has them.
 */
export function userCache(
  os: string = Deno.build.os,
  env: (name: string) => string | undefined = (name) => Deno.env.get(name),
): string {
  const home = env("HOME");
  const chosen = env("XDG_CACHE_HOME");
  if (chosen !== undefined && isAbsolute(chosen)) return join(chosen, NAME);
  if (home === undefined || home === "") return join(HOME, ".cache");
  return os === "darwin"
    ? join(home, "Library/Caches", NAME)
    : join(home, ".cache", NAME);
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

/**
 * Formats `command` as the user would type it, given how the program was started.
 *
 * @param folder Where it is to be typed. @default {where the user typed the command}
 */
export function typed(command: string, folder?: string): string {
  const { folder: here, isTask } = started();
  const isNpx = Deno.env.get("npm_command") === "exec";
  if (!isTask) return `${isNpx && isPackage() ? "npx " : ""}${NAME} ${command}`;
  const deno = isNpx ? `npx -y deno@${Deno.version.deno}` : "deno";
  // From a folder of the project Deno finds its tasks, from another it must be told.
  const config = isOutside(folder ?? here)
    ? ` --config ${quoted(join(HOME, "deno.json"))}`
    : "";
  return `${deno} task${config} ${command}`;
}

/** Quotes `text` where a shell would not take it as one word. */
export function quoted(text: string): string {
  return /^[\w./@:=+-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Flags of `deno run` for the commands that run or build kernels: the same in tasks, workers
 * and archives, and none for the network.
 *
 * Reading and writing are not scoped: `--out`, `--suite` and `--kernel-cache` may name any
 * folder, and a user's suite may have its sources anywhere.
 */
export const PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  // Drivers and vendors' libraries.
  "--allow-ffi",
  // Compilers, workers, tar.
  "--allow-run",
  // CUDA_HOME, PATH and the like.
  "--allow-env",
  // The CPU's model, the host's memory.
  "--allow-sys",
];

/**
 * The permissions of Deno that each command asks for, however the program is started.
 *
 * Tasks ask for what their command needs. An installed program and an archive ask for all, and
 * drop what the command does not need before it is loaded.
 *
 * @module
 */

import { PERMISSIONS } from "../session/home.ts";
import type { BRIEFS } from "./command.ts";

type Name = keyof typeof BRIEFS | "completions";

/** Variables that tell where and how the command was typed, and that Deno's own globs look up. */
const VARIABLES = ["INIT_CWD", "npm_command", "__MINIMATCH_TESTING_PLATFORM__"];
/** Those that the library which draws looks up. */
const DRAWING = [
  "DISABLE_SYSTEM_FONTS_LOAD",
  "NAPI_RS_FORCE_WASI",
  "NAPI_RS_NATIVE_LIBRARY_PATH",
];

const env = (names: readonly string[]) => `--allow-env=${names.join()}`;
const READS: readonly string[] = ["--allow-read", env(VARIABLES)];
const WRITES: readonly string[] = [
  "--allow-read",
  "--allow-write",
  env(VARIABLES),
];

/**
 * Flags of `deno run` for each command. Reading and writing are not limited to folders: options
 * name any.
 */
const NEEDS: Readonly<Record<Name, readonly string[]>> = {
  bench: PERMISSIONS,
  check: PERMISSIONS,
  tune: PERMISSIONS,
  compare: PERMISSIONS,
  build: PERMISSIONS,
  export: PERMISSIONS,
  capture: PERMISSIONS,
  // The driver of a GPU, and git.
  init: PERMISSIONS.filter((flag) => flag !== "--allow-sys"),
  // Compilers and drivers, which it asks for their versions; with --devices it builds kernels.
  doctor: PERMISSIONS,
  // Suite files, which are tried in a process of their own and may look up variables.
  list: ["--allow-read", "--allow-run", "--allow-env"],
  diff: READS,
  table: READS,
  completions: READS,
  report: WRITES,
  history: WRITES,
  import: WRITES,
  plot: [
    "--allow-read",
    "--allow-write",
    "--allow-ffi",
    env([...VARIABLES, ...DRAWING]),
  ],
};

/** What can be dropped. Variables cannot, but for one. */
const KINDS = ["net", "ffi", "run", "write", "sys"] as const;

/** Returns the flags for `command`; those of reading for a word that is none. */
export function flagsOf(command: string): readonly string[] {
  return Object.hasOwn(NEEDS, command) ? NEEDS[command as Name] : READS;
}

/** Returns what the command line `args` does not need. */
export function unneededPermissions(
  args: readonly string[],
): readonly (typeof KINDS[number])[] {
  const [command = "", part = ""] = args;
  const kept = command === "tune" && /^(list|edit|forget|merge)$/.test(part)
    ? WRITES
    : flagsOf(command).filter((flag) =>
      flag !== "--allow-write" || command !== "doctor" ||
      args.includes("--devices")
    );
  return KINDS.filter((kind) => !kept.includes(`--allow-${kind}`));
}

/** Drops what the command line `args` does not need, for the rest of the process. */
export function dropPermissions(args: readonly string[]): void {
  for (const name of unneededPermissions(args)) {
    Deno.permissions.revokeSync({ name });
  }
}

/**
 * Finds the version of the sources that measure: their commit, and whether they differ from it.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";
import { readIfThere } from "../bench/files/disk.ts";
import { jsonIn } from "../bench/files/json_file.ts";
import { ProgramError, runProgram } from "../bench/files/run_program.ts";
import { object, picklist, pipe, regex, string } from "valibot";
import { COMMIT_FILE, HOME, VERSION } from "./home.ts";

const commitSchema = object({
  commit: pipe(string(), regex(/^[\w.+-]{1,64}$/)),
  dirty: picklist(["true", "false", ""]),
});

/** The version of the sources, as rows have it. */
export interface SourceVersion {
  /** The commit; without git the program's version. */
  readonly commit: string;
  /** Whether the sources differ from the commit; empty where that is not known. */
  readonly dirty: "true" | "false" | "";
}

/** Changes in these move no time: recorded results, pictures and texts. */
const NO_SOURCES = [":!results", ":!plots", ":!*.md"];
/** Git answers in milliseconds, but for a repository on a slow network. */
const LIMIT_MS = 10_000;

/**
 * Returns the version of the program in the folder `home`: of git where `home` is the top of a
 * repository, else of its {@linkcode COMMIT_FILE}, else the program's version. Files that git does
 * not track do not make it dirty.
 */
export async function sourceVersion(home = HOME): Promise<SourceVersion> {
  return await ofGit(home) ?? inFile(home) ?? { commit: VERSION, dirty: "" };
}

async function ofGit(home: string): Promise<SourceVersion | undefined> {
  const head = await git(home, [
    "rev-parse",
    "--show-toplevel",
    "--short=12",
    "HEAD",
  ]);
  const [top, commit] = head?.split("\n") ?? [];
  // A package within somebody's repository has no commit of that.
  if (top === undefined || commit === undefined) return undefined;
  if (Deno.realPathSync(top) !== Deno.realPathSync(home)) return undefined;
  const changes = await git(home, [
    ...["status", "--porcelain", "--untracked-files=no", "--", "."],
    ...NO_SOURCES,
  ]);
  if (changes === undefined) return { commit, dirty: "" };
  return { commit, dirty: changes === "" ? "false" : "true" };
}

/** Files whose changes do not affect kernels: texts and recorded rows. */
const NO_KERNELS = [":(top,exclude)*.md", ":(top,exclude)*.csv"];

/**
 * Returns the commit of the repository that has `file`, with a `+` behind it where tracked files
 * differ from it. Empty where git tracks no such file or cannot tell what changed, where looking for
 * changes would run filters of the repository's own configuration, and in the program's repository.
 *
 * @param home The folder of the program.
 */
export async function commitOfFile(file: string, home = HOME): Promise<string> {
  const folder = dirname(file);
  const head = await git(folder, [
    "rev-parse",
    "--show-toplevel",
    "--short=12",
    "HEAD",
  ]);
  const [top, commit] = head?.split("\n") ?? [];
  if (top === undefined || commit === undefined) return "";
  if (Deno.realPathSync(top) === Deno.realPathSync(home)) return "";
  const known = await git(folder, [
    ...["ls-files", "--error-unmatch", "--", basename(file)],
  ]);
  const filters = await git(folder, [
    ...["config", "--local", "--get-regexp", "^filter\\."],
  ]);
  if (known === undefined || filters !== undefined) return "";
  const changes = await git(folder, [
    ...["status", "--porcelain", "--untracked-files=no", "--", ":/"],
    ...NO_KERNELS,
  ]);
  if (changes === undefined) return "";
  return changes === "" ? commit : `${commit}+`;
}

/** Returns what git prints; nothing where there is no git or it fails. */
async function git(
  home: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const { success, stdout } = await runProgram("git", {
      // Reading must not keep another git from writing, nor start a program that a repository names.
      args: [
        ...["--no-optional-locks", "-c", "core.fsmonitor=false"],
        ...["-C", home, ...args],
      ],
      limitMs: LIMIT_MS,
    });
    return success ? stdout.trim() : undefined;
  } catch (error) {
    if (error instanceof ProgramError) return undefined;
    throw error;
  }
}

function inFile(home: string): SourceVersion | undefined {
  const text = readIfThere(join(home, COMMIT_FILE));
  return text === undefined ? undefined : jsonIn(commitSchema, text);
}

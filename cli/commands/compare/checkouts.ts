/**
 * Checks both sides of `compare BASE..HEAD` out into folders of their own, and removes these.
 *
 * @module
 */

import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readIfThere, unlessMissing } from "../../../bench/files/disk.ts";
import {
  ProgramError,
  type ProgramOutput,
  runProgram,
} from "../../../bench/files/run_program.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { importFlags, kernelCacheOf } from "../../../session/home.ts";
import { flagsOf } from "../../permissions.ts";

/** Two commits as they are typed. */
export interface Range {
  readonly base: string;
  readonly next: string;
}

/** A side of the comparison, ready to run. */
export interface Checkout {
  /** As it was typed, with the commit. */
  readonly name: string;
  /** The folder where `bench` starts. */
  readonly folder: string;
  /** The folder of the whole checkout. */
  readonly tree: string;
  /** The top of the repository that it was made from; undefined of a folder as it is. */
  readonly origin?: string;
  /** Whether it is of this program: built-in kernels may be others than in another checkout. */
  readonly hasProgram: boolean;
  /** The arguments of Deno that start the program of this side. */
  readonly program: readonly string[];
  /** The folder of compiled kernels; that of the program by default. */
  readonly kernelCache: string | undefined;
}

/** Both sides, and a folder for what they measure. All that was made is removed in the end. */
export interface Checkouts extends AsyncDisposable {
  readonly base: Checkout;
  readonly next: Checkout;
  /** An empty folder. */
  readonly rounds: string;
  /** The file of configs: kernels that both sides have alike share theirs. */
  readonly timingCache: string;
}

/** `a..b` and `a..`, and no path: `..` is no folder of one. */
const RANGE = /^(?<base>[^/]|[^/].*?[^/.])\.\.(?<next>[^/.].*)?$/;

/** Returns the commits of `side`; nothing where it is no `BASE..HEAD`. */
export function rangeOf(side: string): Range | undefined {
  const { base, next = "HEAD" } = RANGE.exec(side)?.groups ?? {};
  return base === undefined ? undefined : { base, next };
}

/** Returns whether `folder` is a checkout of the program. */
export function isCheckout(folder: string): boolean {
  if (!unlessMissing(() => Deno.statSync(folder))?.isDirectory) return false;
  const main = join(folder, "cli/main.ts");
  return unlessMissing(() => Deno.statSync(main)) !== undefined &&
    readIfThere(join(folder, "deno.json"))?.includes('"@mnkbench/mnkbench"') ===
      true;
}

/** Takes two folders with checkouts as they are. */
export function checkoutsIn(base: string, next: string): Checkouts {
  const rounds = Deno.makeTempDirSync({ prefix: "mnkbench-" });
  const sideOf = (name: string): Checkout => {
    const folder = Deno.realPathSync(name);
    return {
      ...{ name, folder, tree: folder, hasProgram: true },
      program: programIn(folder),
      kernelCache: undefined,
    };
  };
  return {
    base: sideOf(base),
    next: sideOf(next),
    rounds,
    timingCache: join(rounds, "timings.json"),
    [Symbol.asyncDispose]: () => Deno.remove(rounds, { recursive: true }),
  };
}

/**
 * Checks out both commits of `range` below a new folder, from the repository where the program
 * was started. Neither its working tree nor its index is touched, and its hooks do not run.
 *
 * @throws {UserError} Without git, without a repository, for an unknown commit, and where `HEAD`
 * is not what lies in the working tree.
 */
export async function checkOut(
  range: Range,
  { kernelCache }: { readonly kernelCache: string | undefined },
): Promise<Checkouts> {
  const said = `${range.base}..${range.next}`;
  const place = await git(["rev-parse", "--show-toplevel", "--show-prefix"]);
  if (!place.success) {
    throw new UserError(
      `Cannot compare ${said}: ${
        lastLine(place.stderr)
      }; start it in the repository of these commits`,
    );
  }
  const [top, prefix = ""] = place.stdout.split("\n") as [string, string?];
  const commits = {
    base: await commitOf(range.base),
    next: await commitOf(range.next),
  };
  if (range.next === "HEAD" || range.base === "HEAD") await refuseDirty(said);
  await using undo = new AsyncDisposableStack();
  const root = Deno.makeTempDirSync({ prefix: "mnkbench-" });
  undo.defer(() => Deno.remove(root, { recursive: true }));
  const rounds = join(root, "rounds");
  Deno.mkdirSync(rounds);
  const caches = join(kernelCacheOf(kernelCache), "commits");
  const sideOf = async (side: keyof Range): Promise<Checkout> => {
    const tree = join(root, side);
    const commit = commits[side];
    const made = await git([
      ...["-C", top, "-c", `core.hooksPath=${rounds}`],
      ...["worktree", "add", "--quiet", "--detach", tree, commit],
    ]);
    // Also where it failed half-way: git forgets the folder before it is removed.
    undo.defer(async () => {
      await git(["-C", top, "worktree", "remove", "--force", tree]);
    });
    if (!made.success) {
      throw new UserError(
        `Cannot check out ${range[side]}: ${
          lastLine(made.stderr)
        }; see \`git worktree list\``,
      );
    }
    const folder = join(tree, prefix);
    if (unlessMissing(() => Deno.statSync(folder)) === undefined) {
      throw new UserError(
        `Cannot measure ${range[side]}: it has no folder ${
          relative(tree, folder)
        }; start the command further up`,
      );
    }
    return {
      name: `${range[side]} ${commit.slice(0, 12)}`,
      ...{ folder, tree, origin: top },
      hasProgram: isCheckout(tree),
      program: programIn(tree),
      kernelCache: join(caches, commit),
    };
  };
  const [base, next] = [await sideOf("base"), await sideOf("next")];
  const kept = undo.move();
  return {
    base,
    next,
    rounds,
    timingCache: join(caches, "timings.json"),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Returns how the program of a checkout is started: its own, or this one for other repositories. */
function programIn(folder: string): readonly string[] {
  const flags = ["run", "--quiet", "--no-prompt", ...flagsOf("bench")];
  return isCheckout(folder)
    ? [...flags, join(folder, "cli/main.ts")]
    : [...flags, ...importFlags(), fileURLToPath(Deno.mainModule)];
}

/** @throws {UserError} For a name of no commit. */
async function commitOf(name: string): Promise<string> {
  const { success, stdout } = await git([
    ...["rev-parse", "--verify", "--quiet", "--end-of-options"],
    `${name}^{commit}`,
  ]);
  if (success) return stdout.trim();
  throw new UserError(
    `Cannot find the commit ${name}: git knows none of that name; fetch it, or see \`git log\``,
  );
}

/** @throws {UserError} Where tracked files differ from `HEAD`. */
async function refuseDirty(said: string): Promise<void> {
  const { stdout } = await git([
    ...["status", "--porcelain", "--untracked-files=no"],
  ]);
  const files = stdout.split("\n").filter((line) => line !== "");
  if (files.length === 0) return;
  throw new UserError(
    `Cannot compare ${said}: ${
      files[0]!.slice(3)
    } differs from HEAD and would not be measured; commit or stash it, or name the commit`,
  );
}

/** More than the checkout of a large repository takes. */
const LIMIT_MS = 600_000;

async function git(args: readonly string[]): Promise<ProgramOutput> {
  try {
    return await runProgram("git", {
      args: ["--no-optional-locks", ...args],
      limitMs: LIMIT_MS,
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new UserError(
      `Cannot check out commits: ${error.message}; install git, or give two folders with checkouts`,
    );
  }
}

/** Returns the line of `text` that says why a program failed: its last error, or its last line. */
export function lastLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "");
  const line = lines.findLast((line) => /^(error|fatal): /.test(line)) ??
    lines.at(-1) ?? "it says nothing";
  return line.replace(/^(error|fatal): /, "");
}

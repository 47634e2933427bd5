/**
 * Makes the arguments of `bench` for each side of `compare BASE..HEAD`.
 *
 * @module
 */

import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { unlessMissing } from "../../../bench/files/disk.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { isFile, loadSuites } from "../../../session/cases.ts";
import type { Choice, PeerChoice } from "../../../session/options.ts";
import { isOwnKernel } from "../../../session/own_kernels.ts";
import { logLine } from "../../terminal/output.ts";
import type { Checkout, Checkouts } from "./checkouts.ts";
import type { Side } from "./turns.ts";

/** Options of `compare` that `bench` lacks, and whether each takes a value. */
const OWN: Readonly<Record<string, boolean>> = {
  "--runs": true,
  "--out": true,
  "--times": true,
  "--budget": true,
  "--threshold": true,
  "--min-us": true,
  "--config": true,
  "--fail-on": true,
  "--only": true,
  "--format": true,
  "--calibrate": false,
  "--bisect": false,
  "--kernel-cache": true,
};
/** Options of `bench` without a value. */
const TOGGLES = [
  "--quick",
  "--prebuilt",
  "--no-timing-cache",
  "--error-on-cache-miss",
];

/**
 * Returns the arguments of `compare` without its `sides` and its own options: those of `bench`, as
 * they were typed.
 *
 * @example
 * ```ts
 * import { benchArgs } from "./bench_args.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(
 *   benchArgs(["main..HEAD", "--quick", "--runs=3", "--m", "16", "mine.c"], ["main..HEAD"]),
 *   ["--quick", "--m", "16", "mine.c"],
 * );
 * ```
 */
export function benchArgs(
  args: readonly string[],
  sides: readonly string[],
): readonly string[] {
  const left = [...sides];
  const kept: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    const [name = ""] = arg.split("=");
    const isOption = arg.startsWith("-");
    const hasValue = isOption && arg === name && !TOGGLES.includes(name) &&
      OWN[name] !== false;
    const words = args.slice(i, i + (hasValue ? 2 : 1));
    i += words.length - 1;
    if (isOption) {
      if (!Object.hasOwn(OWN, name)) kept.push(...words);
    } else if (left.includes(arg)) left.splice(left.indexOf(arg), 1);
    else kept.push(arg);
  }
  return kept;
}

/** What is compared of each commit. */
export interface Compared
  extends Pick<Choice, "suites" | "kernels">, Pick<PeerChoice, "peers"> {
  /** The range, and what else is named without an option: a kernel or suite file. */
  readonly sides: readonly string[];
}

/**
 * Returns the arguments of `bench` for each side: `args`, in which absolute paths into the repository
 * lead into its checkout. Where this program measures both sides, the built-in kernels are the same:
 * unless the user names kernels or peers, or one side has no kernel of its own, only the kernels of
 * the side's own suites are selected.
 *
 * @throws {UserError} Where this program measures both sides, and no file of the repository is named.
 */
export async function argsOfSides(
  checkouts: Pick<Checkouts, Side>,
  args: readonly string[],
  { suites, kernels, peers, sides }: Compared,
): Promise<Readonly<Record<Side, readonly string[]>>> {
  const files = [...suites, ...sides.slice(1)].filter(isFile);
  const { base, next } = checkouts;
  const all = [...files, ...peers?.split(",") ?? []];
  const moved = {
    base: movedInto(base, args, all),
    next: movedInto(next, args, all),
  };
  if (base.hasProgram || next.hasProgram) return moved;
  // A relative path is one of the folder that is checked out.
  const varies = all.filter(isFile).some((name) =>
    !isAbsolute(name) || pathIn(next, name) !== name
  );
  if (!varies) {
    throw new UserError(
      `Cannot compare ${
        sides[0]
      }: without a suite or kernel file of this repository both commits run the same kernels of mnkbench; give one, as in --suite ./suite.ts`,
    );
  }
  if (kernels.length > 0 || peers !== undefined) return moved;
  const own = {
    base: await ownKernels(base, files),
    next: await ownKernels(next, files),
  };
  const names = new Set([...own.base, ...own.next]);
  // A side without any would measure all, and the other side lack those.
  if (own.base.length === 0 || own.next.length === 0) return moved;
  logLine(
    `Only kernels of this repository are measured: ${
      [...names].join(", ")
    }; --kernel names others`,
  );
  const of = (side: Side) => [...moved[side], "--kernel", own[side].join()];
  return { base: of("base"), next: of("next") };
}

/** Returns `args` with those of `files` that are in the repository moved into its checkout. */
function movedInto(
  checkout: Checkout,
  args: readonly string[],
  files: readonly string[],
): readonly string[] {
  const move = (name: string) =>
    files.includes(name) ? pathIn(checkout, name) : name;
  return args.map((arg) => {
    const [, option = "", value = arg] = /^(--[\w-]+=)(.*)$/s.exec(arg) ?? [];
    return option + value.split(",").map(move).join();
  });
}

/** Returns the path in `checkout` of the file that an absolute `name` is in the repository. */
function pathIn({ origin, tree }: Checkout, name: string): string {
  if (origin === undefined || !isAbsolute(name)) return name;
  // Git knows the repository by the path without links.
  const folder = unlessMissing(() => Deno.realPathSync(dirname(name)));
  const inner = relative(origin, join(folder ?? dirname(name), baseOf(name)));
  return inner.startsWith("..") ? name : join(tree, inner);
}

/** The last part of a path, in which a `?` may be followed by settings with slashes. */
function baseOf(name: string): string {
  return relative(dirname(name), name);
}

/** The names of the kernels that `files` of a side add to the built-in ones. */
async function ownKernels(
  checkout: Checkout,
  files: readonly string[],
): Promise<readonly string[]> {
  const paths = files.map((name) =>
    resolve(checkout.folder, pathIn(checkout, name))
  );
  try {
    const suites = await loadSuites(paths);
    const own = suites.flatMap(({ name: suite, kernels }) =>
      kernels.filter(({ name, backend }) =>
        isOwnKernel({ suite, kernel: name, backend })
      )
    );
    return [...new Set(own.map(({ name }) => name))];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // `bench` of that side says why.
    return [];
  }
}

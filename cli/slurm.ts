/**
 * `--on slurm`: the options that give a command's cases to a cluster, and what is shown meanwhile.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  readIfThere,
  removeIfThere,
  unlessMissing,
} from "../bench/files/disk.ts";
import { hashOf } from "../bench/files/hash.ts";
import { UserError } from "../bench/model/errors.ts";
import { RunFolder } from "../bench/worker/run_folder.ts";
import {
  HOME,
  importFlags,
  isPackage,
  kernelCacheOf,
  NAME,
  quoted,
  RUNS,
  VERSION,
} from "../session/home.ts";
import type { Running } from "../session/options.ts";
import { follow } from "../session/share/slurm.ts";
import { sbatchWords } from "../session/share/slurm_queue.ts";
import {
  type ArrayRun,
  filesOf,
  removeRun,
  scriptOf,
  type ShardFiles,
} from "../session/share/slurm_run.ts";
import { maybe, shown, toggle } from "./options/flags.ts";
import { name, number, path, reader } from "./options/readers.ts";
import { flagsOf } from "./permissions.ts";
import {
  Interrupt,
  logLine,
  printRawLine,
  Progress,
  progressTo,
} from "./terminal/output.ts";

/** The most shards that `--shard` takes. */
const MOST = 10_000;

/** Options that run the cases on a cluster. */
export function clusterFlags() {
  return object("Cluster", {
    on: maybe(
      "--on",
      shown(["slurm"]),
      `Run the cases as jobs of Slurm, from a folder that all nodes share, and join their results. Stop it at any time: the same command follows the same jobs.`,
    ),
    array: maybe(
      "--array",
      number("COUNT", { least: 1, most: MOST }),
      "Jobs of the array, each a shard of about the same cost.",
    ),
    gres: maybe(
      "--gres",
      name("GRES", []),
      "Resources of a job, such as gpu:1.",
    ),
    partition: maybe("--partition", name("NAME", []), "Partition of the jobs."),
    time: maybe(
      "--time",
      timeLimit(),
      "Time limit of a job, such as 2:00:00. For all else set the variables of sbatch, such as SBATCH_ACCOUNT.",
    ),
    print: toggle(
      "--print",
      "Print the script of the jobs, and submit nothing.",
    ),
    progress: maybe(
      "--progress",
      path("FILE"),
      "For schedulers: write into FILE how many cases are done, as JSON. A shard without a case is then no failure.",
    ),
  });
}

/** A time limit, as sbatch takes it. */
function timeLimit() {
  return reader<string>({
    metavar: "TIME",
    placeholder: "1",
    read(input) {
      if (/^(\d+-\d+(:\d+){0,2}|\d+(:\d+){0,2})$/.test(input)) return input;
      throw new UserError(
        `${input} is no time limit: give minutes, hours:minutes:seconds or days-hours, as in 90, 2:00:00 or 1-12`,
      );
    },
  });
}

/** The options of {@linkcode clusterFlags}. */
export type ClusterOptions = InferValue<ReturnType<typeof clusterFlags>>;

/** Options of {@linkcode clusterFlags} that the shards do not get, and whether they have a value. */
const OWN = {
  "--on": true,
  "--array": true,
  "--gres": true,
  "--partition": true,
  "--time": true,
  "--print": false,
};

/** A command of which shards run on a cluster. */
export interface Shards {
  readonly name: "bench" | "check" | "tune";
  readonly options: ClusterOptions & Pick<Running, "kernelCache">;
  /** Options that the shards do not get either, and whether they have a value. */
  readonly without?: Readonly<Record<string, boolean>>;
  /** Options that each shard gets besides. */
  readonly added?: readonly string[];
  /** Whether each has rows. @default {false} */
  readonly hasRows?: boolean;
  /**
   * Whether a shard that ended with code 1 or 3 did what it was asked for.
   *
   * @default {where it printed anything}
   */
  isWhole?(files: ShardFiles, code: number): boolean;
}

/** The shards of a command that have all ended. Disposing it gives its folder to others. */
export interface EndedShards extends Disposable {
  readonly files: readonly ShardFiles[];
  readonly codes: readonly number[];
  /** The lines that they printed, in their order. */
  readonly lines: readonly string[];
  /** Removes what they left, so that the same command begins afresh. */
  remove(): void;
}

/**
 * Checks the options of a command.
 *
 * @param clashes Options that mean nothing with `--on`, and whether they are given.
 * @throws {UserError} Where one means nothing without another, or contradicts it.
 */
export function refuseCluster(
  { on, array, gres, partition, time, print, progress }: ClusterOptions,
  clashes: Readonly<Record<string, boolean>>,
): void {
  if (on === undefined) {
    const stray = Object.entries({ array, gres, partition, time })
      .find(([, value]) => value !== undefined)?.[0] ??
      (print ? "print" : undefined);
    if (stray === undefined) return;
    throw new UserError(
      `--${stray} is of jobs on a cluster: add --on slurm, or leave it out`,
    );
  }
  if (array === undefined) {
    throw new UserError(
      "Cannot tell how many jobs to submit: give --array, as in --array 16",
    );
  }
  const all = { ...clashes, "--progress": progress !== undefined };
  const clash = Object.entries(all).find(([, given]) => given)?.[0];
  if (clash === undefined) return;
  throw new UserError(
    `Cannot combine --on ${on} with ${clash}: leave out one of the two`,
  );
}

/** The folder of all runs on a cluster. */
const ROOT = `${RUNS}/slurm`;

/** An array of jobs, and what names it. */
interface PlannedRun {
  readonly run: ArrayRun;
  /** The name of its folder in {@linkcode ROOT}: the same for the same command. */
  readonly id: string;
  /** Whether the nodes run a copy of the program in the folder. */
  readonly isPacked: boolean;
}

/** Returns the array of jobs of a command. */
function planRun(
  { name, options, without = {}, added = [], hasRows = false }: Shards,
): PlannedRun {
  const { array: count = 1, gres, partition, time, kernelCache } = options;
  const args = withoutOptions(Deno.args.slice(1), { ...OWN, ...without });
  const isPacked = needsPacking();
  const id = hashOf(VERSION, Deno.cwd(), name, `${count}`, ...args)
    .slice(0, 12);
  const folder = `${ROOT}/${id}`;
  const program = isPacked ? [`${programIn(folder)}/${NAME}`] : [
    ...[Deno.execPath(), "run", "--quiet", "--no-prompt", ...flagsOf(name)],
    ...[...importFlags(), fileURLToPath(Deno.mainModule)],
  ];
  // Its default depends on how the program was started, which differs in a job.
  const cache = kernelCache !== undefined
    ? []
    : ["--kernel-cache", isPacked ? `${ROOT}/cache` : kernelCacheOf(undefined)];
  const run: ArrayRun = {
    folder,
    job: `${NAME}-${id}`,
    count,
    hasRows,
    resources: { gres, partition, time },
    words: [...program, name, ...args, ...cache, ...added],
  };
  return { run, id, isPacked };
}

/** Follows the jobs of `run` with a progress bar. @returns Their exit codes; undefined if stopped. */
async function followShown(
  { name, isWhole = ({ out }) => linesIn(out).length > 0 }: Shards,
  run: ArrayRun,
  files: readonly ShardFiles[],
): Promise<readonly number[] | undefined> {
  using interrupt = new Interrupt();
  using shown = new DisposableStack();
  let bar: Progress | undefined;
  return await follow(run, {
    signal: interrupt.signal,
    observer: {
      note: (line) => bar ? bar.print(line) : logLine(line),
      progress(state) {
        // Cases that were done before say nothing of the time that is left.
        const { done, total } = state;
        bar ??= shown.use(new Progress(name, total, { done }));
        bar.update(state);
      },
    },
    isWhole: (index, code) => isWhole(files[index - 1]!, code),
  });
}

/**
 * Runs the shards of a command, and waits until they have ended.
 *
 * @returns Undefined if they were only printed, or are no longer followed.
 * @throws {UserError} As `follow()` does, and if another process follows them.
 */
export async function runShards(
  shards: Shards,
): Promise<EndedShards | undefined> {
  const { run, id, isPacked } = planRun(shards);
  const { folder } = run;
  const all = Array.from({ length: run.count }, (_, i) => i + 1);
  if (shards.options.print) {
    printRawLine(scriptOf(run, Deno.cwd()).trimEnd());
    logLine(
      `Not submitted: ${
        ["sbatch", ...sbatchWords(run, all)].map(quoted).join(" ")
      }`,
    );
    return undefined;
  }
  using owned = new DisposableStack();
  const lock = owned.use(new RunFolder(ROOT, id));
  if (isPacked) await packInto(folder);
  const files = all.map((index) => filesOf(run, index));
  const codes = await followShown(shards, run, files);
  if (codes === undefined) {
    logLine(
      `Stopped: the jobs go on, and the same command follows them; to cancel them: scancel --name=${run.job}`,
    );
    return undefined;
  }
  const lines = files.flatMap(({ out }) => linesIn(out));
  const kept = owned.move();
  return {
    files,
    codes,
    lines,
    remove() {
      removeRun(run);
      removeIfThere(programIn(folder));
      const rest = [...Deno.readDirSync(folder)];
      // Files of others in the folder stay.
      if (rest.every(({ name }) => name === "lock")) lock.finish();
    },
    [Symbol.dispose]: () => kept.dispose(),
  };
}

/**
 * Returns whether nodes may not see the program: it is on another file system than the folder that
 * they must share. The npm package has no sources to pack, and is taken as it is.
 */
function needsPacking(): boolean {
  const own = [Deno.execPath(), HOME].map((path) => Deno.statSync(path).dev);
  return !isPackage() && own.some((dev) => dev !== Deno.statSync(".").dev);
}

function programIn(folder: string): string {
  return `${folder}/program`;
}

/** Copies the program into `folder`, where that was not done before. */
async function packInto(folder: string): Promise<void> {
  const program = programIn(folder);
  if (unlessMissing(() => Deno.statSync(program))) return;
  const { gather } = await import("./commands/build/archive.ts");
  const draft = `${program}.new`;
  removeIfThere(draft);
  await gather(resolve(draft), { arch: [], kernelCache: undefined });
  Deno.renameSync(draft, program);
  logLine(`Copied the program into ${program}, as nodes may not see ${HOME}`);
}

function linesIn(path: string): readonly string[] {
  return (readIfThere(path) ?? "").split("\n").filter((line) => line !== "");
}

/** Has the progress of a shard written where `--progress` says. */
export function reportProgress({ progress }: ClusterOptions): void {
  if (progress !== undefined) progressTo(progress);
}

/**
 * Returns `args` without `options`, of which some have a value.
 *
 * @example
 * ```ts
 * import { withoutOptions } from "./slurm.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const options = { "--on": true, "--print": false };
 * const args = ["--m", "1", "--on", "slurm", "--print", "--on=slurm"];
 * deepStrictEqual(withoutOptions(args, options), ["--m", "1"]);
 * ```
 */
export function withoutOptions(
  args: readonly string[],
  options: Readonly<Record<string, boolean>>,
): readonly string[] {
  const kept: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [name = "", value] = args[i]!.split("=", 2);
    if (!Object.hasOwn(options, name)) kept.push(args[i]!);
    else if (options[name] && value === undefined) i++;
  }
  return kept;
}

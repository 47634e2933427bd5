/**
 * Submits the jobs of a Slurm array with `sbatch`, and lists them with `squeue`.
 *
 * @module
 */

import {
  ProgramError,
  type ProgramOutput,
  runProgram,
} from "../../bench/files/run_program.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { UserError } from "../../bench/model/errors.ts";
import { type ArrayRun, scriptFile } from "./slurm_run.ts";

/** Returns the arguments of sbatch that submit `shards`. */
export function sbatchWords(
  run: ArrayRun,
  shards: readonly number[],
): readonly string[] {
  const { gres, partition, time } = run.resources;
  return [
    ...["--parsable", "--requeue", `--job-name=${run.job}`],
    `--array=${rangesOf(shards)}`,
    // The script writes its own: a path may have what Slurm takes for a pattern.
    ...["--output=/dev/null", "--error=/dev/null"],
    ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ...(gres === undefined ? [] : [`--gres=${gres}`]),
    ...(time === undefined ? [] : [`--time=${time}`]),
    scriptFile(run),
  ];
}

/** Formats ascending numbers as ranges, as in `1-3,7`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const one of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === one - 1) last[1] = one;
    else ranges.push([one, one]);
  }
  return ranges.map(([a, b]) => a === b ? `${a}` : `${a}-${b}`).join();
}

/** A job of the array. */
export interface Job {
  /** Of the whole array, which was submitted at once. */
  readonly id: string;
  /** Its shard. */
  readonly index: number;
  readonly state: string;
  /** Why it waits; empty where it does not. */
  readonly reason: string;
}

/** The states of jobs that have ended, see `squeue(1)`. */
const ENDED = new Set([
  ...["BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED"],
  ...["NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"],
]);
/** Reasons to wait for that nobody need do anything about. */
export const USUAL_REASONS = new Set([
  ...["None", "Priority", "Resources", "BeginTime", "Cleaning", "Prolog"],
  ...["JobArrayTaskLimit", "Dependency"],
]);

/** The name of a job, which no other has. */
export function nameOf({ id, index }: Job): string {
  return `${id}_${index}`;
}

/** Whether a job has not ended. */
export function isAlive({ state }: Job): boolean {
  return !ENDED.has(state);
}

/**
 * Asks Slurm for the jobs of a run, those of before too as far as it remembers them.
 *
 * @throws {UserError} Where it does not answer.
 */
export async function jobsOf(
  { job }: ArrayRun,
  stop: AbortSignal,
): Promise<readonly Job[]> {
  const words = [
    ...["--noheader", "--array", "--states=all", `--name=${job}`],
    "--format=%F|%K|%T|%r",
  ];
  const { success, stdout, stderr } = await slurm("squeue", words, stop);
  if (!success) {
    throw new UserError(
      `Cannot ask Slurm for jobs: ${lineOf(stderr)}; see \`scontrol ping\``,
    );
  }
  return stdout.split("\n").filter((line) => line !== "").map((line) => {
    const [id = "", index = "", state = "", reason = ""] = line.split("|");
    const waits = state === "PENDING" || state.startsWith("REQUEUE");
    return { id, index: Number(index), state, reason: waits ? reason : "" };
  }).toSorted((a, b) => Number(a.id) - Number(b.id));
}

/**
 * Submits `shards`.
 *
 * @throws {UserError} Where sbatch refuses, with what it says and a way out.
 */
export async function submit(
  run: ArrayRun,
  shards: readonly number[],
  stop: AbortSignal,
): Promise<void> {
  const words = sbatchWords(run, shards);
  const { success, stderr } = await slurm("sbatch", words, stop);
  // Whether it came through then is found by the name of the jobs.
  if (success || stop.aborted) return;
  const why = lineOf(stderr);
  const what = `Cannot submit ${counted(shards.length, "shard")}: ${why}`;
  if (/array/i.test(why)) {
    const most = await mostShards(stop);
    if (most !== undefined && run.count > most) {
      throw new UserError(
        `${what}; this cluster's MaxArraySize allows --array ${most} at most`,
      );
    }
  }
  throw new UserError(
    `${what}; ${
      /partition/i.test(why)
        ? "`sinfo -s` lists the partitions for --partition"
        : /generic resource|gres/i.test(why)
        ? "`sinfo -o %G` lists what --gres may ask for"
        : "nothing that was measured is lost: correct the options, then give the command again"
    }`,
  );
}

/** Returns the most shards that the cluster lets an array have, if it says so. */
async function mostShards(stop: AbortSignal): Promise<number | undefined> {
  const { stdout } = await slurm("scontrol", ["show", "config"], stop);
  const size = /^MaxArraySize\s*=\s*(\d+)/m.exec(stdout)?.[1];
  // The greatest index is less than it, and shards count from 1.
  return size === undefined ? undefined : Number(size) - 1;
}

/** Returns the first error in what a program of Slurm said, else its first line. */
function lineOf(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((line) => line.includes("error: ")) ?? lines[0];
  return line?.replace(/^\w+: (error: )?/, "").trim() ?? "it says nothing";
}

/** More than a busy controller takes to answer. */
const LIMIT_MS = 120_000;

/** Runs a program of Slurm, until `stop` ends it. */
async function slurm(
  program: string,
  args: readonly string[],
  stop: AbortSignal,
): Promise<ProgramOutput> {
  try {
    return await runProgram(program, {
      args,
      // Messages in English, and no format but those that are asked for.
      env: { LC_ALL: "C" },
      limitMs: LIMIT_MS,
      stop,
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new UserError(
      error.late
        ? `Cannot reach Slurm: ${error.message}; give the same command again, which finds the jobs that were submitted`
        : `Cannot reach Slurm: ${error.message}; start the command where ${program} is on PATH, or leave out --on`,
    );
  }
}

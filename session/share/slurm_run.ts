/**
 * A command in shards: its files, and the script of its jobs.
 *
 * @module
 */

import { onDisk, removeIfThere } from "../../bench/files/disk.ts";
import { replaceFile } from "../../bench/files/replace.ts";
import { NAME, quoted } from "../home.ts";

/** What Slurm is asked for each shard. Missing leaves it to Slurm and its variables. */
export interface Resources {
  readonly gres?: string | undefined;
  readonly partition?: string | undefined;
  readonly time?: string | undefined;
}

/** A command in shards. */
export interface ArrayRun {
  /** The folder of what the shards leave, from where the command is given. All nodes share it. */
  readonly folder: string;
  /** The name of its jobs, by which they are found again: no other run has it. */
  readonly job: string;
  /** The number of shards. */
  readonly count: number;
  readonly resources: Resources;
  /** Program and arguments, which get `--shard` and `--progress`. */
  readonly words: readonly string[];
  /** Whether each shard gets a folder for its rows by `--out`. */
  readonly hasRows: boolean;
}

/** The files of a shard. */
export interface ShardFiles {
  /** The folder of its rows. */
  readonly rows: string;
  /** What it printed. */
  readonly out: string;
  /** What it said besides, in all of its jobs. */
  readonly log: string;
  /** Its exit code: there when it has ended. */
  readonly exit: string;
  /** How far it is. */
  readonly progress: string;
  /** Locked by its job. */
  readonly lock: string;
}

/** The files of shard `index` in `folder`. */
export function filesOf(
  { folder }: Pick<ArrayRun, "folder">,
  index: number | string,
): ShardFiles {
  const file = (name: string) => `${folder}/${index}${name}`;
  return {
    rows: file(""),
    out: file(".out"),
    log: file(".log"),
    exit: file(".exit"),
    progress: file(".progress"),
    lock: file(".lock"),
  };
}

/** Where a job writes its exit code before it is at `path`. */
function draftOf(path: string): string {
  return `${path}.new`;
}

/** The mark of a run whose rows are where they belong. */
export function joinedFile({ folder }: ArrayRun): string {
  return `${folder}/joined`;
}

/**
 * Removes what a run left, so that the same command begins afresh. Where that was stopped half-way,
 * `follow()` goes on with it.
 *
 * @throws {UserError} Where the disk refuses.
 */
export function removeRun(run: ArrayRun): void {
  const { folder } = run;
  replaceFile(joinedFile(run), "");
  onDisk(folder, () => {
    for (let index = 1; index <= run.count; index++) {
      const files = filesOf(run, index);
      for (const path of Object.values(files)) removeIfThere(path);
      removeIfThere(draftOf(files.exit));
    }
    removeIfThere(scriptFile(run));
    removeIfThere(joinedFile(run));
  });
}

/** The file of {@linkcode scriptOf}. */
export function scriptFile({ folder }: ArrayRun): string {
  return `${folder}/job.sh`;
}

/**
 * Returns the script of the jobs. All that a user named stands in it as quoted words.
 *
 * @param cwd The folder where the command is given.
 */
export function scriptOf(run: ArrayRun, cwd: string): string {
  const { words, count, hasRows } = run;
  const own = filesOf({ folder: "$run" }, "$shard");
  return `#!/bin/bash
# A shard of a command of ${NAME}: SLURM_ARRAY_TASK_ID says which.
cd -- ${quoted(cwd)} || exit 1
run=${quoted(run.folder)}
shard=$SLURM_ARRAY_TASK_ID
exec 2>>"${own.log}"
# Two jobs of a shard take turns, and the second finds that it has ended.
exec 9>>"${own.lock}"
flock -w 60 9 || exit 1
[ ! -e "${own.exit}" ] || exit 0
# They say how the command was started where it was submitted.
unset INIT_CWD npm_command
${words.map(quoted).join(" ")} \\
  --shard "$shard/${count}" --progress "${own.progress}"${
    hasRows ? ` --out "${own.rows}"` : ""
  } >"${own.out}"
code=$?
# Ended by a signal, it goes on in its next job.
[ "$code" -lt 128 ] || exit "$code"
echo "$code" >"${draftOf(own.exit)}" && mv "${draftOf(own.exit)}" "${own.exit}"
exit "$code"
`;
}

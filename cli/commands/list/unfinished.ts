/**
 * `mnkbench list --unfinished`: the runs that were stopped, and the rows that they keep.
 *
 * @module
 */

import { readBytesIfThere } from "../../../bench/files/disk.ts";
import { counted } from "../../../bench/files/terminal_text.ts";
import { EXIT, type ExitCode } from "../../../bench/model/errors.ts";
import {
  isInProgress,
  type UnfinishedRun,
  unfinishedRuns,
  unlessRefused,
} from "../../../bench/worker/run_folder.ts";
import { quoted, RUNS, typed } from "../../../session/home.ts";
import { say, tell } from "../../terminal/output.ts";

/**
 * Lists the unfinished runs of this folder, the oldest first, and says which cannot be read.
 *
 * @returns The exit code.
 * @throws {UserError} Where the folder of the runs cannot be read.
 */
export function listUnfinished(json: boolean): ExitCode {
  const runs = unfinishedRuns(RUNS, tell)
    .flatMap((run) => unlessRefused(() => listed(run), tell) ?? [])
    .toSorted((a, b) => a.started < b.started ? -1 : 1);
  if (json) {
    say(JSON.stringify(runs, null, 2));
    return EXIT.ok;
  }
  for (const { folder, rows, started, device, running, command } of runs) {
    const state = running ? "in progress" : "stopped";
    say(`${folder}  ${started}  ${device}  ${counted(rows, "row")}  ${state}`);
    say(`  ${typed(command.map(quoted).join(" "))}`);
  }
  const left = runs.filter(({ running }) => !running);
  tell(
    left.length === 0
      ? `No stopped run is in ${RUNS}`
      : `The command below each goes on with it; to remove one: rm -r ${
        left[0]!.folder
      }`,
  );
  return EXIT.ok;
}

/** What is said of `run`. @throws {UserError} Where it cannot be read. */
function listed(run: UnfinishedRun) {
  const { folder, info } = run;
  return {
    folder,
    rows: linesOf(`${folder}/journal.jsonl`),
    started: info.started,
    device: info.device,
    running: isInProgress(run),
    // What is there would be discarded.
    command: info.command.filter((word) => word !== "--fresh"),
  };
}

const LF = 0x0a;
/** Bytes of the longest file whose lines are counted. */
const MOST_BYTES = 1 << 30;

/** Counts the whole lines of a file, which may be too long for a text; none where there is none. */
function linesOf(file: string): number {
  const bytes = readBytesIfThere(file, MOST_BYTES);
  let lines = 0;
  for (let at = -1; (at = bytes?.indexOf(LF, at + 1) ?? -1) >= 0;) lines++;
  return lines;
}

/**
 * `mnkbench list --unfinished`: the runs that were stopped, and the rows that they keep.
 *
 * @module
 */

import { readIfThere } from "../../../bench/files/disk.ts";
import { counted } from "../../../bench/files/terminal_text.ts";
import { EXIT, type ExitCode } from "../../../bench/model/errors.ts";
import {
  isInProgress,
  unfinishedRuns,
} from "../../../bench/worker/run_folder.ts";
import { quoted, RUNS, typed } from "../../../session/home.ts";
import { say, tell } from "../../terminal/output.ts";

/** Lists the unfinished runs of this folder, the oldest first. @returns The exit code. */
export function listUnfinished(json: boolean): ExitCode {
  const runs = unfinishedRuns(RUNS).map((run) => ({
    folder: run.folder,
    rows: linesOf(`${run.folder}/journal.jsonl`),
    started: run.info.started,
    device: run.info.device,
    running: isInProgress(run),
    // What is there would be discarded.
    command: run.info.command.filter((word) => word !== "--fresh"),
  })).toSorted((a, b) => a.started < b.started ? -1 : 1);
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

/** Counts the whole lines of a file; none where there is no file. */
function linesOf(file: string): number {
  return (readIfThere(file) ?? "").split("\n").length - 1;
}

/**
 * `mnkbench compare --calibrate`: what two runs of the same build differ by.
 *
 * @module
 */

import { dirname } from "node:path";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { readIfThere } from "../../../bench/files/disk.ts";
import { lockFolders } from "../../../bench/files/lock.ts";
import { contained, replaceFile } from "../../../bench/files/replace.ts";
import { deviceFolder } from "../../../bench/row/results.ts";
import { mismatchOf } from "../../../report/diff/verdict.ts";
import { titleOf } from "../../../report/diff/diff.ts";
import { identityOf } from "../../../bench/row/row.ts";
import {
  effectOf,
  formatEffects,
  keyFields,
  LEAST_RUNS,
  parseEffects,
} from "../../../report/diff/mde.ts";

import {
  Interrupt,
  logLine,
  printLine,
  Progress,
} from "../../terminal/output.ts";
import { type ComparedRuns, settingsOf } from "../../../session/options.ts";
import { jobOf, Measured } from "../../../session/run_job.ts";
import { readRows, type SourcedRow } from "../../../session/read_rows.ts";
import { select } from "../../../session/select.ts";

/** The runs to read, or how to make some. */
type Calibrating = ComparedRuns & {
  readonly paths: readonly string[];
  /** Runs of the same build. @default {5} */
  readonly times?: number | undefined;
  readonly out: string;
};

/** Runs of the same build unless told otherwise. */
const TIMES = 5;

/** Reads or makes runs of one build and keeps each row's effect. @returns The exit code. */
export async function calibrate(options: Calibrating): Promise<number> {
  const { paths, times = TIMES } = options;
  const count = paths.length > 0 ? paths.length : times;
  // Before minutes are spent on runs that do not suffice.
  if (count < LEAST_RUNS) {
    throw new UserError(
      `Cannot calibrate with ${count} runs: their spread is known from ${LEAST_RUNS} on; ${
        paths.length > 0
          ? `name ${LEAST_RUNS} CSVs or more, or none to measure ${TIMES} runs`
          : `give --times ${LEAST_RUNS} or more`
      }`,
    );
  }
  const runs = paths.length > 0
    ? await readAll(paths)
    : await makeRuns(options, times);
  const cases = Map.groupBy(runs.flat(), caseOf);
  const timed: SourcedRow[][] = [];
  for (const rows of cases.values()) {
    if (
      rows.length === runs.length && rows.every((r) => r.row.status === "ok")
    ) {
      refuseDifferent(rows);
      refuseSame(rows);
      timed.push(rows);
    } else {
      logLine(`${titleOf(rows[0]!.row)}: left out, not timed in all runs`);
    }
  }
  if (timed.length === 0) {
    throw new UserError(
      `Cannot calibrate: no case is timed in all of ${runs.length} runs`,
      EXIT.nothing,
    );
  }
  const files = Map.groupBy(
    timed,
    ([first]) => JSON.stringify([first!.row.device, first!.row.suite]),
  );
  for (const own of files.values()) await write(own, options.out);
  return EXIT.ok;
}

function readAll(
  paths: readonly string[],
): Promise<readonly (readonly SourcedRow[])[]> {
  return Promise.all(paths.map((path) => readRows([path])));
}

function caseOf({ row, identity }: SourcedRow): string {
  return identity ?? identityOf(row);
}

/**
 * @throws {UserError} Where two are one measurement: a spread of nothing would let `diff`
 * call any noise a change.
 */
function refuseSame(rows: readonly SourcedRow[]): void {
  const seen = new Map<string, SourcedRow>();
  for (const one of rows) {
    const { run, time, median_us } = one.row;
    // Rows without a run and a time are told apart by what was measured.
    const text = [run, time, run === "" || time === "" ? median_us : ""]
      .join("\0");
    const other = seen.get(text);
    if (other) {
      throw new UserError(
        `Cannot calibrate: ${one.file} line ${one.line} is the measurement of ${other.file} line ${other.line}, run ${run} at ${time}; name runs that were measured each on its own`,
      );
    }
    seen.set(text, one);
  }
}

/** @throws {UserError} Where the runs were not of one build, timed one way. */
function refuseDifferent([first, ...others]: readonly SourcedRow[]): void {
  for (const other of others) {
    const mismatch = mismatchOf(first!.row, other.row) ??
      (first!.row.config === other.row.config &&
          first!.row.binary_hash !== other.row.binary_hash
        ? "binary changed"
        : undefined);
    if (mismatch === undefined) continue;
    throw new UserError(
      `Cannot calibrate: ${other.file} line ${other.line} is not the same build as ${
        first!.file
      } line ${first!.line} (${mismatch}); name runs of one build`,
    );
  }
}

async function makeRuns(
  options: ComparedRuns,
  times: number,
): Promise<readonly (readonly SourcedRow[])[]> {
  const { runs = 1, timeout } = options;
  const selected = await select(options);
  for (const note of selected.notes) logLine(note);
  const settings = settingsOf(options);
  const made: SourcedRow[][] = [];
  let winners: Record<string, string> = {};
  using interrupt = new Interrupt();
  using progress = new Progress(
    "calibrate",
    times * runs * selected.cases.length,
  );
  let done = 0;
  for (let time = 0; time < times; time++) {
    const measured = new Measured();
    for (let run = 0; run < runs; run++) {
      const configs = { chosen: winners };
      const job = jobOf({ ...selected, settings, configs, run: "calibrate" });
      const { signal } = interrupt;
      const watch = { progress, timeout, signal, done };
      done = await measured.measure(job, watch);
      if (signal.aborted) {
        throw new UserError("Cannot calibrate: it was stopped", EXIT.failed);
      }
      // All runs are of one build: the configs that the first one chose.
      winners = { ...measured.winners, ...winners };
    }
    const rows = [...measured.evidence.values()];
    made.push(rows.map(({ row }, i) => ({
      file: `run ${time + 1}`,
      line: i + 1,
      row,
    })));
  }
  return made;
}

/** Writes the effects of one suite over those of its other cases. */
async function write(
  cases: readonly (readonly SourcedRow[])[],
  out: string,
): Promise<void> {
  const { device, suite } = cases[0]![0]!.row;
  const rows = cases.map((runs) => ({
    key: keyFields(runs[0]!.row),
    mde: effectOf(runs.map(({ row }) => Number(row.median_us))),
  }));
  const path = contained(out, deviceFolder(device), `${suite}.mde.json`);
  using _lock = await lockFolders([dirname(path)], { note: logLine });
  const runs = cases[0]!.length;
  const text = readIfThere(path);
  const old = text === undefined ? undefined : parseEffects(text, path);
  const measured = new Set(rows.map(({ key }) => JSON.stringify(key)));
  const kept = old?.device !== device
    ? []
    : old.rows.filter(({ key }) => !measured.has(JSON.stringify(key)));
  const content = {
    device,
    runs: kept.length > 0 ? Math.min(runs, old!.runs) : runs,
    rows: [...kept, ...rows],
  };
  replaceFile(path, formatEffects(content));
  const worst = rows.reduce((a, b) => a.mde > b.mde ? a : b).mde;
  printLine(
    `${path}: ${rows.length} rows of ${runs} runs, minimal detectable effect ${
      (100 * worst).toFixed(1)
    } % at most`,
  );
}

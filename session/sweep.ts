/**
 * Sweeps cases: checks and times each, keeps each row in the journal at once, and publishes all rows at
 * the end. It prints nothing, but calls its observer.
 *
 * @module
 */

import { resolve } from "node:path";
import { WriteError } from "../bench/files/disk.ts";
import { disturbanceTexts, findDisturbances } from "../bench/device/machine.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import { mix } from "../bench/model/inputs.ts";
import type { Settings } from "../bench/model/settings.ts";
import type { Case } from "../bench/model/suite.ts";
import type { Spent } from "../bench/measure/time_ledger.ts";
import { assertPublishable, combined, publish } from "../bench/row/results.ts";
import { caseText, type Row } from "../bench/row/row.ts";
import { Journal, type RunInfo } from "../bench/worker/journal.ts";
import { assertChangeable } from "../bench/tune/timing_cache.ts";
import { olderRun } from "../bench/worker/run_folder.ts";
import { Findings, missingCases, type SweepObserver } from "./findings.ts";
import { isTunable, validity } from "./run_state.ts";
import { commitOfFile, sourceVersion } from "./commit.ts";
import { isFile, pathOfFile } from "./cases.ts";
import { CurrentCaseFile } from "./current_case.ts";
import { RUNS, VERSION } from "./home.ts";
import { Remaining, weighed } from "./remaining.ts";
import { isFailure, jobOf, type ProgressView, runJob } from "./run_job.ts";
import type { Selected } from "./select.ts";
import { failedElsewhere } from "./source/ragged.ts";
import { callSuite } from "./suite_calls.ts";
import { Devices } from "./share/devices.ts";
import { writeShardFile } from "./share/shards.ts";

export type { SweepObserver } from "./findings.ts";

/** The options of a sweep. */
export interface SweepOptions {
  /** Repeats in fresh workers. */
  readonly runs: number;
  /** Folder of CSVs. */
  readonly out: string;
  /** Whether to discard an unfinished run of the same selection and settings. */
  readonly fresh: boolean;
  /** Whether to continue such a run, and to fail if there is none. */
  readonly resume: boolean;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** Aborting it ends the worker. The rows are kept, and the same sweep continues later. */
  readonly signal: AbortSignal;
  /** Folder of unfinished runs. @default {".runs"} */
  readonly unfinished?: string;
  /** The command line, which is recorded in the unfinished run. @default {[]} */
  readonly command?: readonly string[];
}

/** The outcome of a sweep. */
export interface SweepEnd {
  /** A row for each case that was run, its repeats combined. */
  readonly rows: readonly Row[];
  /** The number of rows in the journal. */
  readonly kept: number;
  /** Paths of the written files. */
  readonly paths: readonly string[];
  readonly spent: readonly Spent[];
  /** The greatest memory of a worker, in bytes. */
  readonly memoryBytes: number;
}

/**
 * Sweeps the cases of `selected`.
 *
 * @throws {UserError} If results or found configs cannot be written, there is nothing to resume, or a
 * worker cannot run. The rows are kept.
 */
export async function sweep(
  selected: Selected,
  settings: Settings,
  { observer, ...options }: SweepOptions & { readonly observer: SweepObserver },
): Promise<SweepEnd> {
  const { cases, info } = selected;
  const { out } = options;
  // Before the measurement, as its rows could not be written later.
  await assertPublishable(out, {
    device: info.name,
    suites: [...new Set(cases.map(({ suite }) => suite))],
  });
  const { timingCache } = settings;
  if (timingCache !== undefined && cases.some((c) => isTunable(c, info))) {
    assertChangeable(timingCache);
  }
  using journal = callSuite(() =>
    openRun(selected, settings, { ...options, observer })
  );
  try {
    return await run(selected, settings, { ...options, observer, journal });
  } catch (error) {
    if (!(error instanceof WriteError) || journal.rows.length === 0) {
      throw error;
    }
    throw new UserError(
      `${error.message}; what was measured is kept: ${
        continuedBy(options.fresh)
      }`,
      error.code,
    );
  }
}

/**
 * Returns a sentence on the command that continues an unfinished sweep.
 *
 * @param fresh Whether the sweep had `--fresh`, which would discard the rows.
 */
export function continuedBy(fresh: boolean): string {
  return `the same command${fresh ? " without --fresh" : ""} continues`;
}

/** Runs the cases without a row in `journal`, and publishes all rows. */
async function run(
  selected: Selected,
  settings: Settings,
  { observer, journal, ...options }: SweepOptions & {
    readonly observer: SweepObserver;
    readonly journal: Journal;
  },
): Promise<SweepEnd> {
  const { cases } = selected;
  const { out, signal } = options;
  const version = await sourceVersion();
  using begun = new CurrentCaseFile(journal.file("begun.json"), signal);
  const found = new Findings(journal, {
    selected,
    settings,
    observer,
    version,
    commits: await commitsOf(selected),
    begun,
  });
  found.blame();
  await measure({ journal, selected, settings, found }, options);
  found.remember();
  const { spent, memoryBytes } = found;
  const kept = journal.rows.length;
  const rows = combined(journal);
  const { parts } = selected;
  if (signal.aborted) {
    // A stopped run is published too, as the machine may not be available again. A shard is not, as
    // it is incomplete without the others.
    const paths = parts || kept === 0
      ? []
      : await publish(journal, out, { ...observer, unfinished: true });
    return { rows, paths, kept, spent, memoryBytes };
  }
  demandComplete(journal, cases, options);
  // Before the run folder is removed: `import` needs this file for the rows of a shard.
  if (parts) {
    const { run, info } = journal;
    writeShardFile(out, { run, info, parts, commit: version.commit });
  }
  const paths = await publish(journal, out, observer);
  return { rows, paths, kept, spent, memoryBytes };
}

/** Returns the commits of the repositories of users' suites and kernel files, by the names of the suites. */
async function commitsOf(
  { suites, selection }: Selected,
): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
  for (const [i, { name }] of suites.entries()) {
    const file = selection.suites[i] ?? "";
    if (!isFile(file)) continue;
    const commit = await commitOfFile(pathOfFile(file));
    if (commit !== "") commits.set(name, commit);
  }
  return commits;
}

/** Opens the journal of an unfinished run of `selected`, or of a new one. */
function openRun(
  selected: Selected,
  settings: Settings,
  { runs, out, fresh, resume, observer, ...more }: SweepOptions & {
    readonly observer: SweepObserver;
  },
): Journal {
  const { unfinished = RUNS, command = [] } = more;
  const info: RunInfo = {
    selection: selected.selection,
    settings,
    runs,
    harness: VERSION,
    device: selected.info.name,
    arch: selected.info.arch,
    out: resolve(out),
    command,
    started: new Date().toISOString(),
  };
  const stillValid = validity(selected, settings);
  const journal = new Journal(unfinished, info, { fresh, stillValid });
  const older = journal.resumed ? undefined : olderRun(unfinished, info);
  if (older !== undefined) {
    observer.note(
      `${older.folder} has an unfinished run of these cases by version ${older.info.harness}, which ${VERSION} cannot continue: all are measured again`,
    );
  }
  if (!resume || journal.resumed) return journal;
  journal.finish();
  journal[Symbol.dispose]();
  throw new UserError(
    "No unfinished run of this command is here: leave out --resume",
    EXIT.nothing,
  );
}

/** The parts of a sweep. */
interface Swept {
  readonly journal: Journal;
  readonly selected: Selected;
  readonly settings: Settings;
  readonly found: Findings;
}

/** Measures the missing rows, one repeat after the other, and the cases of each runner in own workers. */
async function measure(
  swept: Swept,
  { runs, signal, timeout }: SweepOptions,
): Promise<void> {
  const { journal, selected, settings, found } = swept;
  const { cases, infos = [selected.info] } = selected;
  const total = runs * cases.length;
  using progress = found.observer.progress(total, journal.rows.length);
  const machines = new Map(
    infos.map((info) => [info, findDisturbances(selected.backend, info)]),
  );
  const texts = [...machines.values()].flatMap(disturbanceTexts);
  for (const text of new Set(texts)) progress.print(text);
  const weights = weighed(cases, selected.info);
  const remaining = new Remaining(Array(runs).fill(weights).flat());
  for (const { row } of journal.rows) remaining.skip(row.key);
  const watch = { progress, remaining, timeout, signal };
  await takeFailed(swept, { ...watch, runs });
  const counts = { ...found.counts() };
  const measureOn = async (
    info: DeviceInfo,
    part: readonly Case[],
    { repeat, signal }: { repeat: number; signal: AbortSignal },
  ) => {
    const { calibration, run } = journal;
    const isOne = infos.length === 1;
    const { selection } = selected;
    const job = jobOf({
      selection: isOne ? selection : { ...selection, device: info.index },
      settings,
      cases: ordered(part, repeat),
      run,
      skip: [...journal.done(repeat)],
      configs: found.configs,
      machine: machines.get(info)!.join("+"),
      ...(calibration ? { calibration } : {}),
      ...(isOne ? {} : { workers: infos.length }),
    });
    const end = await runJob(job, {
      ...watch,
      progress: isOne ? progress : deviceView(progress, info, counts),
      signal,
      ...counts,
      take(event) {
        found.take(event, repeat, info);
        if (event.event !== "row") return;
        counts.done++;
        if (isFailure(event.row)) counts.failed++;
      },
    });
    found.end(end);
  };
  const devices = new Devices(infos, (text) => progress.print(text));
  for (let repeat = 0; repeat < runs; repeat++) {
    for (const own of Map.groupBy(cases, ({ runner }) => runner).values()) {
      const missing = () => missingCases(journal, own, repeat);
      await devices.run({
        // All cases with several repeats: each repeat of a case runs on the same device.
        cases: runs === 1 ? missing() : own,
        signal,
        missing,
        measure: (part, info, signal) =>
          measureOn(info, part, { repeat, signal }),
      });
    }
  }
}

/** Adds failed rows for cases whose kernels fail at other shapes, in each repeat without them. */
async function takeFailed(
  { journal, selected, settings, found }: Swept,
  { runs, remaining, ...watch }:
    & Pick<SweepOptions, "runs" | "timeout" | "signal">
    & { readonly progress: ProgressView; readonly remaining: Remaining },
): Promise<void> {
  const repeats = Array.from({ length: runs }, (_, i) => i);
  const lacking = repeats.flatMap((i) =>
    missingCases(journal, selected.cases, i)
  );
  const { run } = journal;
  const options = { ...watch, settings, run };
  const wrong = await failedElsewhere(selected, [...new Set(lacking)], options);
  for (const repeat of repeats) {
    const done = journal.done(repeat);
    for (const row of wrong) {
      if (done.has(caseText(row.key))) continue;
      found.take({ event: "row", row }, repeat);
      remaining.skip(row.key);
    }
  }
}

/** Makes the view of one of several devices: its own note, and the counts of all devices. */
function deviceView(
  progress: ProgressView,
  { index }: DeviceInfo,
  counts: { readonly done: number; readonly failed: number },
): ProgressView {
  return {
    ...progress,
    print: (line) => progress.print(line),
    update({ note, ...change }) {
      progress.update({
        ...change,
        ...("done" in change ? counts : {}),
        ...(note === undefined ? {} : { note: `device ${index}: ${note}` }),
      });
    },
  };
}

/**
 * Returns the cases of a repeat, those of one problem together. From the second repeat on, the problems
 * are in a different order each time: every few seconds launches cost 0.1 µs more for a moment, and
 * because repeats take equally long, in one order the same case would be affected each time. See
 * `docs/notes/2026-11-23-process-state.md`.
 */
export function ordered(
  cases: readonly Case[],
  repeat: number,
): readonly Case[] {
  const problems = [...Map.groupBy(cases, ({ problem }) => problem).values()];
  if (repeat === 0) return problems.flat();
  const places = problems.map((own, i) => ({ own, at: mix(mix(repeat) + i) }));
  return places.toSorted((a, b) => a.at - b.at).flatMap(({ own }) => own);
}

/**
 * Checks that a run is complete, as published rows count as a complete run.
 *
 * @throws {UserError} If a case of a repeat has no row.
 */
export function demandComplete(
  journal: Pick<Journal, "done">,
  cases: readonly Case[],
  { runs, fresh }: Pick<SweepOptions, "runs" | "fresh">,
): void {
  let missing = 0;
  for (let repeat = 0; repeat < runs; repeat++) {
    missing += missingCases(journal, cases, repeat).length;
  }
  if (missing === 0) return;
  throw new UserError(
    `Cannot write the results: ${missing} of ${
      runs * cases.length
    } rows are missing, as the worker ended without them; what was measured is kept: ${
      continuedBy(fresh)
    }`,
    EXIT.failed,
  );
}

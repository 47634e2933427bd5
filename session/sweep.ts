/**
 * Sweeps cases: checks and times each, keeps each row as soon as it is known, and publishes
 * all at the end. It prints nothing: its observer is told what it finds.
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
  /** Discard an unfinished run of the same selection and settings. */
  readonly fresh: boolean;
  /** Continue one, or stop where there is none. */
  readonly resume: boolean;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** Aborting it ends the worker; what was measured is kept for the same sweep. */
  readonly signal: AbortSignal;
  /** Folder of unfinished runs. @default {".runs"} */
  readonly unfinished?: string;
  /** The command line, for whoever finds the unfinished run. @default {[]} */
  readonly command?: readonly string[];
}

/** The outcome of a sweep. */
export interface SweepEnd {
  /** One for each case, its repeats combined; where it was stopped, of those that it came to. */
  readonly rows: readonly Row[];
  /** Rows that were kept, where it was stopped. */
  readonly kept: number;
  /** The files that were written. */
  readonly paths: readonly string[];
  readonly spent: readonly Spent[];
  /** Bytes that a worker held at most. */
  readonly memoryBytes: number;
}

/**
 * Sweeps the cases of `selected`.
 *
 * @throws {UserError} Where results or found configs could not be written, nothing is there to resume, or a
 * worker cannot run: what was measured is kept.
 */
export async function sweep(
  selected: Selected,
  settings: Settings,
  { observer, ...options }: SweepOptions & { readonly observer: SweepObserver },
): Promise<SweepEnd> {
  const { cases, info } = selected;
  const { out } = options;
  // Before anything is measured, or it would have nowhere to go.
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
 * Says which command continues a sweep that did not end.
 *
 * @param fresh Whether it had `--fresh`, which would discard the rows.
 */
export function continuedBy(fresh: boolean): string {
  return `the same command${fresh ? " without --fresh" : ""} continues`;
}

/** Runs what is missing in `journal`, and publishes it. */
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
    // A stopped run is published too: a lent machine may not come back to finish it. A shard is not:
    // it is useless without the others.
    const paths = parts || kept === 0
      ? []
      : await publish(journal, out, { ...observer, unfinished: true });
    return { rows, paths, kept, spent, memoryBytes };
  }
  demandComplete(journal, cases, options);
  // Before the run is forgotten: its rows are of no use to `import` without it.
  if (parts) {
    const { run, info } = journal;
    writeShardFile(out, { run, info, parts, commit: version.commit });
  }
  const paths = await publish(journal, out, observer);
  return { rows, paths, kept, spent, memoryBytes };
}

/** The commits of the repositories of users' suites and kernel files, by the names of the suites. */
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

/** Opens the run of `selected`: an unfinished one, or a new one. */
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

/** What is swept, and what keeps its rows. */
interface Swept {
  readonly journal: Journal;
  readonly selected: Selected;
  readonly settings: Settings;
  readonly found: Findings;
}

/** Measures what the run lacks, repeat by repeat, each runner's cases in workers of their own. */
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
        // A case that is repeated stays on its device, also where the run was stopped.
        cases: runs === 1 ? missing() : own,
        signal,
        missing,
        measure: (part, info, signal) =>
          measureOn(info, part, { repeat, signal }),
      });
    }
  }
}

/** Takes the rows of cases whose kernels fail at other shapes, for each repeat that lacks them. */
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

/** The view of one of several devices: what it is at, and how far all are. */
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
 * The cases of a repeat: those of one problem together, and from the second repeat on the problems in
 * another order each time. At some moments, which return every few seconds, launches cost 0.1 µs
 * more. Repeats take equally long, so that in one order a case would meet the same moment in each. See
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
 * Refuses a run that lacks rows, as one that is published counts as whole.
 *
 * @throws {UserError} Where a case of a repeat has no row.
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

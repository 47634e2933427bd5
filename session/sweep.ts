/**
 * A sweep: every case checked and timed, each row kept the moment it is known, and the whole
 * published at the end. It prints nothing: what it finds goes to its observer.
 *
 * @module
 */

import { EXIT, UserError } from "../bench/model/errors.ts";
import type { Settings } from "../bench/model/settings.ts";
import type { Spent } from "../bench/measure/time_ledger.ts";
import { assertPublishable, combined, publish } from "../bench/row/results.ts";
import type { Row } from "../bench/row/row.ts";
import {
  type Journal,
  openJournal,
  type RunInfo,
} from "../bench/worker/journal.ts";
import { olderRun } from "../bench/worker/older_run.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { isPeer, peerNamed } from "../peers/peer_cases.ts";
import { demandComplete, missingCases } from "./complete.ts";
import { CrashedConfigs } from "./crashed_configs.ts";
import { VERSION } from "./home.ts";
import { jobOf } from "./job.ts";
import { fromCache, Remembered } from "./remembered_timings.ts";
import { isFailure, type ProgressView, runJob } from "./run_job.ts";
import type { Selected } from "./selection.ts";
import { sourcesOf, validity } from "./validity.ts";

/** Folder of unfinished runs unless told otherwise, where the program runs. */
const RUNS = ".runs";

/** How a sweep is made. */
export interface SweepOptions {
  /** Repeats in fresh workers. */
  readonly runs: number;
  /** Folder of CSVs. */
  readonly out: string;
  /** Discard an unfinished run of the same selection and settings. */
  readonly fresh: boolean;
  /** Continue one, or stop where there is none. */
  readonly resume: boolean;
  /** Seconds without a sign of life after which a case is given up. */
  readonly timeout: number;
  /** Aborting it ends the worker; what was measured is kept for the same sweep. */
  readonly signal: AbortSignal;
  /** Folder of unfinished runs. @default {".runs"} */
  readonly unfinished?: string;
  /** The command line, for whoever finds the unfinished run. @default {[]} */
  readonly command?: readonly string[];
}

/** Who is told of a sweep as it goes. */
export interface SweepObserver {
  /** Something to be said once. */
  note(text: string): void;
  /** A row that is kept: first those of an unfinished run, then each new one. */
  row(row: Row): void;
  /** What shows how far it is, given how many rows there will be and are already. */
  progress(total: number, done: number): ProgressView & Disposable;
}

/** What came of a sweep. */
export interface SweepEnd {
  /** One for each case, its repeats combined; none where it was stopped. */
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
 * @throws {UserError} Where results could not be written, nothing is there to resume, or a
 * worker cannot run: what was measured is kept.
 */
export async function sweep(
  selected: Selected,
  settings: Settings,
  { observer, ...options }: SweepOptions & { readonly observer: SweepObserver },
): Promise<SweepEnd> {
  const { cases, info } = selected;
  const { runs, out, signal } = options;
  // Before anything is measured, or it would have nowhere to go.
  await assertPublishable(out, {
    device: info.name,
    suites: [...new Set(cases.map(({ suite }) => suite))],
  });
  using journal = openRun(selected, settings, { ...options, observer });
  const sweeping = new Sweeping(journal, { selected, settings, observer });
  {
    const total = runs * cases.length;
    using progress = observer.progress(total, journal.rows.length);
    for (let repeat = 0; repeat < runs; repeat++) {
      for (const part of ["ours", "peers"] as const) {
        if (signal.aborted) break;
        await sweeping.run(part, repeat, { ...options, progress });
      }
    }
  }
  sweeping.remember();
  const { spent, memoryBytes } = sweeping;
  const kept = journal.rows.length;
  if (signal.aborted) return { rows: [], paths: [], kept, spent, memoryBytes };
  demandComplete(journal, cases, runs);
  const rows = combined(journal);
  const paths = await publish(journal, out);
  return { rows, paths, kept, spent, memoryBytes };
}

/** Opens the run of `selected`: an unfinished one, or a new one. */
function openRun(
  selected: Selected,
  settings: Settings,
  { runs, fresh, resume, observer, ...more }: SweepOptions & {
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
    command,
    started: new Date().toISOString(),
  };
  const stillValid = validity(selected, settings);
  const journal = openJournal(unfinished, info, { fresh, stillValid });
  const older = journal.resumed ? undefined : olderRun(unfinished, info);
  if (older !== undefined) {
    observer.note(
      `${older.folder} has an unfinished run of these cases by version ${older.info.harness}, which ${VERSION} cannot go on with: all are measured afresh`,
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

/** A sweep under way: what its workers found, and what the next ones are told of it. */
class Sweeping {
  readonly spent: Spent[] = [];
  memoryBytes = 0;
  readonly #crashed: CrashedConfigs;
  readonly #remembered: Remembered;
  #state: { readonly done: number; readonly failed: number };

  constructor(
    readonly journal: Journal,
    readonly parts: {
      readonly selected: Selected;
      readonly settings: Settings;
      readonly observer: SweepObserver;
    },
  ) {
    const { selected, settings, observer } = parts;
    const kept = journal.rows;
    for (const note of journal.notes) observer.note(note);
    if (journal.resumed) {
      observer.note(
        `Going on with the run of ${journal.info.started}: ${kept.length} rows are there; --fresh discards them`,
      );
    }
    for (const { row } of kept) observer.row(row);
    const failed = kept.filter(({ row }) => isFailure(row)).length;
    this.#state = { done: kept.length, failed };
    this.#crashed = new CrashedConfigs(journal, sourcesOf(selected, settings));
    this.#remembered = new Remembered(settings, journal.file("timings.json"));
  }

  /** Measures what a repeat lacks of our kernels, or of peers, in workers of their own. */
  async run(
    part: "ours" | "peers",
    repeat: number,
    watch: {
      readonly progress: ProgressView;
      readonly timeout: number;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { selected: { selection, cases }, settings } = this.parts;
    const { journal } = this;
    const own = cases.filter((c) => isPeer(c) === (part === "peers"));
    if (missingCases(journal, own, repeat).length === 0) return;
    const { calibration } = journal;
    const job = jobOf({
      ...{ selection, settings, cases: own, run: journal.run },
      skip: [...journal.done(repeat)],
      configs: {
        chosen: journal.winners(repeat),
        crashed: this.#crashed.all,
      },
      ...(part === "peers" ? { python: selection.peers!.python } : {}),
      ...(part === "peers" && calibration ? { calibration } : {}),
    });
    const end = await runJob(job, {
      ...this.#state,
      ...watch,
      take: (event) => this.#take(event, repeat),
    });
    this.#state = end;
    if (end.spent) this.spent.push(end.spent);
    this.memoryBytes = Math.max(this.memoryBytes, end.memoryBytes);
  }

  #take(event: Event, repeat: number): void {
    const { journal, parts: { observer } } = this;
    this.#remembered.take(event);
    this.#crashed.take(event, repeat);
    if (event.event === "calibration") journal.calibration = event.calibration;
    if (event.event !== "row" || event.row.status === "checked") return;
    journal.append({ row: event.row, repeat }, event.samples);
    observer.row(event.row);
  }

  /** Keeps found configs for later runs: repeats that shared one would hide its spread. */
  remember(): void {
    const { settings: { timingCache }, observer } = this.parts;
    const ours = this.journal.rows.map(({ row }) => row)
      .filter(({ key }) => peerNamed(key.kernel) === undefined);
    for (const note of fromCache(ours, timingCache)) observer.note(note);
    for (const note of this.#remembered.keep()) observer.note(note);
  }
}

/**
 * Collects what the workers of a sweep find: rows, configs, calibration, costs.
 *
 * @module
 */

import type { DeviceInfo } from "../bench/device/device.ts";
import { counted } from "../bench/files/terminal_text.ts";
import { isPythonLibrary } from "../bench/model/peer.ts";
import type { Settings } from "../bench/model/settings.ts";
import type { Case } from "../bench/model/suite.ts";
import type { Spent } from "../bench/measure/time_ledger.ts";
import { caseText, keyOf, type Row, SCHEMA } from "../bench/row/row.ts";
import type { KnownConfigs } from "../bench/tune/config_book.ts";
import type { Journal } from "../bench/worker/journal.ts";
import type { Event } from "../bench/worker/protocol.ts";
import type { CurrentCaseFile } from "./current_case.ts";
import type { SourceVersion } from "./commit.ts";
import {
  isFailure,
  type JobEnd,
  jobOf,
  type ProgressView,
  provenanceOf,
} from "./run_job.ts";
import { titleOf } from "./phase_note.ts";
import {
  CrashedConfigs,
  fromCache,
  type Sources,
  sourcesOf,
  TimingCacheDraft,
} from "./run_state.ts";
import type { Selected } from "./select.ts";

/** Receives what a sweep finds, while it runs. */
export interface SweepObserver {
  /** Receives a line to show once. */
  note(text: string): void;
  /** Receives each kept row: first those of an unfinished run, then each new one. */
  row(row: Row): void;
  /** Makes the view of the progress: `total` rows, of which `done` are kept already. */
  progress(total: number, done: number): ProgressView & Disposable;
}

/** Returns the cases without a row in a repeat. */
export function missingCases(
  journal: Pick<Journal, "done">,
  cases: readonly Case[],
  repeat: number,
): Case[] {
  const done = journal.done(repeat);
  return cases.filter((c) => !done.has(caseText(keyOf(c))));
}

/** Keeps what workers find, passes it to the observer, and gives later workers what they need. */
export class Findings {
  readonly spent: Spent[] = [];
  memoryBytes = 0;
  readonly observer: SweepObserver;
  readonly #journal: Journal;
  readonly #version: SourceVersion;
  readonly #commits: ReadonlyMap<string, string>;
  readonly #timingCache: string | undefined;
  readonly #sources: Sources;
  readonly #crashed: CrashedConfigs;
  readonly #timings: TimingCacheDraft;
  readonly #options: {
    readonly selected: Selected;
    readonly settings: Settings;
    readonly begun: CurrentCaseFile;
  };

  constructor(
    journal: Journal,
    { selected, settings, observer, version, commits, begun }: {
      readonly selected: Selected;
      readonly settings: Settings;
      readonly observer: SweepObserver;
      readonly version: SourceVersion;
      /** The commits of users' suites, by their names. */
      readonly commits: ReadonlyMap<string, string>;
      readonly begun: CurrentCaseFile;
    },
  ) {
    this.#journal = journal;
    this.#options = { selected, settings, begun };
    this.#version = version;
    this.#commits = commits;
    this.observer = observer;
    this.#timingCache = settings.timingCache;
    this.#sources = sourcesOf(selected, settings);
    this.#crashed = new CrashedConfigs(journal, this.#sources);
    this.#timings = new TimingCacheDraft(
      settings,
      journal.file("timings.json"),
    );
    for (const note of journal.notes) observer.note(note);
    if (journal.resumed) {
      observer.note(
        `Continuing the run of ${journal.info.started}, which has ${
          journal.rows.length === 0
            ? counted(journal.tried, "tried config")
            : counted(journal.rows.length, "row")
        }; --fresh discards them`,
      );
    }
    for (const { row } of journal.rows) observer.row(row);
  }

  /** Makes a `crash` row for a case that ended the program in several starts. */
  blame(): void {
    const { selected: { cases, selection, info }, settings, begun } =
      this.#options;
    const { last } = begun;
    if (!last) return;
    const { key, repeat, starts } = last;
    const missing = missingCases(this.#journal, cases, repeat);
    const c = missing.find((c) => caseText(keyOf(c)) === caseText(key));
    if (!c) return;
    const text = `the program ended while it ran, in ${
      counted(starts, "start")
    }`;
    if (!begun.isBlamed) {
      return this.observer.note(`${titleOf(key)}: ${text}; it is run again`);
    }
    const { peers } = jobOf({ selection, settings, cases: [c], run: "" });
    const row: Row = {
      key,
      place: { device: info.name, arch: info.arch },
      config: "",
      config_by: "",
      status: "crash",
      note: `${text}; --fresh runs it again`,
      provenance: {
        ...provenanceOf({ settings, ...(peers ? { peers } : {}) }),
        // So that later starts find the row valid while the sources are the same.
        source_hash: this.#sources(key, "") ?? "",
        run: this.#journal.run,
        schema: SCHEMA,
        time: new Date().toISOString(),
      },
    };
    this.take({ event: "row", row }, repeat);
  }

  /**
   * The configs for later workers. All repeats of a case run at the same config, so that
   * `between_run_us` is the difference between processes, and the search is done once.
   */
  get configs(): KnownConfigs {
    return { chosen: this.#journal.winners, crashed: this.#crashed.all };
  }

  /** Counts the kept rows, and the failed ones of these. */
  counts(): { readonly done: number; readonly failed: number } {
    const { rows } = this.#journal;
    return {
      done: rows.length,
      failed: rows.filter(({ row }) => isFailure(row)).length,
    };
  }

  /** Keeps the content of `event`, from a worker on device `info`. @throws {UserError} If the disk fails. */
  take(
    event: Event,
    repeat: number,
    info: DeviceInfo = this.#options.selected.info,
  ): void {
    const journal = this.#journal;
    if (event.event === "case") this.#options.begun.begin(event.key, repeat);
    this.#timings.take(event);
    this.#crashed.take(event, repeat);
    // Of several devices, the calibration of the first is kept.
    const isFirst = info.index === this.#options.selected.info.index;
    if (event.event === "calibration" && (isFirst || !journal.calibration)) {
      journal.calibration = event.calibration;
    }
    if (event.event !== "row" || event.row.status === "checked") return;
    const source_commit = this.#commits.get(event.row.key.suite);
    const provenance = {
      ...event.row.provenance,
      ...this.#version,
      ...(source_commit === undefined ? {} : { source_commit }),
      device_index: info.index,
      ...(info.uuid === undefined ? {} : { device_uuid: info.uuid }),
    };
    const row = { ...event.row, provenance };
    journal.append({ row, repeat }, event.samples);
    this.observer.row(row);
  }

  /** Adds the costs of a job. */
  end({ spent, memoryBytes }: JobEnd): void {
    this.spent.push(...spent);
    this.memoryBytes = Math.max(this.memoryBytes, memoryBytes);
  }

  /** Writes the found configs to the timing cache. */
  remember(): void {
    const rows = this.#journal.rows.map(({ row }) => row)
      // Python keeps its configs in a cache of its own.
      .filter(({ provenance }) => !isPythonLibrary(provenance.library));
    for (const note of fromCache(rows, this.#timingCache)) {
      this.observer.note(note);
    }
    for (const note of this.#timings.keep()) this.observer.note(note);
  }
}

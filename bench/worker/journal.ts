/**
 * Keeps an unfinished run: a folder to which every row is added the moment it is
 * known, so that the same command goes on where it was stopped.
 *
 * `run.json` says what was asked, `journal.csv` has the rows (with a column `repeat`
 * after those of a CSV), `samples.jsonl` the samples behind them, `search.csv` the
 * configs that were tried, `calibration.json` what was measured of the device.
 *
 * @module
 */

import { AppendFile, recoverLines } from "../files/append_file.ts";
import type { KeptRow } from "../row/csv_row.ts";
import {
  onDisk,
  readIfThere,
  removeIfThere,
  replaceFile,
} from "../files/disk.ts";
import type { Clock } from "./clock.ts";
import { fingerprint, parseRunInfo, type RunInfo } from "./run_info.ts";
import {
  formatJournalRow,
  idOf,
  JOURNAL_HEADER,
  type JournalRow,
  readJournalRows,
} from "../row/journal_row.ts";
import type { Event } from "./protocol.ts";
import { type Calibration, calibrationSchema } from "../measure/figures.ts";
import { keyText } from "../row/row.ts";
import { RunFolder } from "./run_folder.ts";
import { formatSamples, samplesIn } from "../row/samples.ts";
import { type KeptLoss, type SearchLine, SearchLog } from "./search_log.ts";
import { jsonIn } from "../files/json_file.ts";

export type { RunInfo } from "./run_info.ts";

/** Options of {@linkcode Journal}. */
export interface JournalOptions {
  /** Starts again, whatever has been measured. @default {false} */
  readonly fresh?: boolean;
  /**
   * Whether a row of the same run still holds: the same sources, binary and library.
   *
   * @default {always}
   */
  stillValid?(row: KeptRow): boolean;
  /** Measures how long it waits for the folder's lock. @default {the machine's} */
  readonly clock?: Clock;
}

/** A run's folder, locked and open for adding to. */
export class Journal implements Disposable {
  /** The run as it was first started. */
  readonly info: RunInfo;
  /** The run's fingerprint. */
  readonly run: string;
  /** True if there were rows of an earlier start. */
  readonly resumed: boolean;
  /** Messages about damaged parts of an earlier start, which were left out. */
  readonly notes: readonly string[];
  readonly #rows = new Map<string, JournalRow>();
  readonly #owned = new DisposableStack();
  readonly #folder: RunFolder;
  readonly #journal: AppendFile;
  readonly #samples: AppendFile;
  readonly #search: SearchLog;

  /**
   * Opens the journal of a run under `root`, going on with what is there. What a crash
   * left of a last line is cut off.
   *
   * @throws {UserError} Where another process has it, the disk refuses, or what is there is
   * damaged or of another schema.
   */
  constructor(root: string, info: RunInfo, options: JournalOptions = {}) {
    this.run = fingerprint(info);
    using undo = new DisposableStack();
    undo.use(this.#owned);
    this.#folder = this.#owned.use(
      new RunFolder(root, this.run, options.clock),
    );
    if (options.fresh) this.#folder.empty();
    this.info = this.#remember(info);
    const table = this.#folder.file("journal.csv");
    const text = recoverLines(table, true);
    for (const entry of readJournalRows(text, table)) {
      if (options.stillValid?.(entry.row) === false) continue;
      this.#keep(entry);
    }
    this.resumed = this.#rows.size > 0;
    this.#journal = this.#open("journal.csv", JOURNAL_HEADER);
    this.#samples = this.#open("samples.jsonl");
    this.#search = this.#owned.use(
      new SearchLog(this.#folder.file("search.csv")),
    );
    this.notes = [...this.#dropCalibration(), ...this.#search.notes];
    undo.move();
  }

  /** Every row that counts, in the order of measuring. */
  get rows(): readonly JournalRow[] {
    return [...this.#rows.values()];
  }

  /** Keys, as text, of the cases that need not run again in a repeat. */
  done(repeat: number): ReadonlySet<string> {
    const rows = this.rows.filter((r) => r.repeat === repeat);
    return new Set(rows.map(({ row }) => keyText(row.key)));
  }

  /** The configs of a repeat's timed rows, by key text. */
  winners(repeat: number): Record<string, string> {
    const timed = this.rows.filter((entry) =>
      entry.repeat === repeat && entry.row.status === "ok"
    );
    const configs = timed.map(({ row }) => [keyText(row.key), row.config]);
    return Object.fromEntries(configs) as Record<string, string>;
  }

  /**
   * Adds a row and waits until the disk has it.
   *
   * @param samples Nanoseconds, in the order they were taken.
   * @throws {UserError} Where the disk refuses; rows added before stay.
   */
  append({ row, repeat }: JournalRow, samples?: readonly number[]): void {
    // Before the row: a row that is there has its samples, whatever happens between.
    if (samples) {
      const { key, provenance: { run = this.run } } = row;
      const line = { key, run: `${run}`, repeat, samples_ns: samples };
      this.#samples.append(`${formatSamples(line)}\n`, true);
    }
    this.#journal.append(formatJournalRow({ row, repeat }), true);
    this.#keep({ row, repeat });
  }

  /** Adds a config that was tried. */
  appendConfig(
    event: Extract<Event, { event: "config" }>,
    line: SearchLine,
  ): void {
    this.#search.append(event, line);
  }

  /** Configs that took their worker with them before this start. */
  get lost(): readonly KeptLoss[] {
    return this.#search.lost;
  }

  /** The last calibration of the device. */
  get calibration(): Calibration | undefined {
    const text = readIfThere(this.#folder.file("calibration.json"));
    return text === undefined ? undefined : jsonIn(calibrationSchema, text);
  }

  /** Keeps what was measured of the device. */
  set calibration(calibration: Calibration) {
    replaceFile(this.#folder.file("calibration.json"), toJson(calibration));
  }

  /**
   * Lines of samples, oldest first; also those of rows that no longer count. Lines that
   * are damaged are left out.
   */
  *sampleLines(): Generator<string> {
    const text = readIfThere(this.#folder.file("samples.jsonl")) ?? "";
    for (const line of text.split("\n")) if (samplesIn(line)) yield line;
  }

  /** The path of a file that lives as long as the run is unfinished. */
  file(name: string): string {
    return this.#folder.file(name);
  }

  /** Closes and removes everything: the same command then measures afresh. */
  finish(): void {
    this.#folder.finish();
    this[Symbol.dispose]();
  }

  /** Closes the files and lets another process have them. */
  [Symbol.dispose](): void {
    this.#owned.dispose();
  }

  /** The last row of a case and repeat is the one that counts. */
  #keep(entry: JournalRow): void {
    this.#rows.delete(idOf(entry));
    this.#rows.set(idOf(entry), entry);
  }

  #remember(info: RunInfo): RunInfo {
    const path = this.#folder.file("run.json");
    const text = readIfThere(path);
    if (text !== undefined) return parseRunInfo(text, path);
    replaceFile(path, toJson(info));
    return info;
  }

  /** Removes one that is damaged, as it is only taken anew. */
  #dropCalibration(): string[] {
    const path = this.#folder.file("calibration.json");
    const text = readIfThere(path);
    if (text === undefined || jsonIn(calibrationSchema, text)) return [];
    onDisk(path, () => removeIfThere(path));
    return [
      `Left out ${path}, which is damaged: the next worker writes it anew`,
    ];
  }

  #open(name: string, header = ""): AppendFile {
    const path = this.#folder.file(name);
    const text = recoverLines(path, header !== "");
    const file = this.#owned.use(new AppendFile(path));
    if (text === "" && header !== "") file.append(header, true);
    return file;
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Keeps an unfinished run: a folder to which every row is added the moment it is
 * known, so that the same command goes on where it was stopped.
 *
 * `run.json` says what was asked, `journal.jsonl` has the rows, `samples.jsonl` the samples
 * behind them, `search.jsonl` the configs that were tried, `calibration.json` what was
 * measured of the device.
 *
 * @module
 */

import { show } from "../model/errors.ts";
import {
  integer,
  literal,
  minValue,
  number,
  object,
  picklist,
  pipe,
  string,
} from "valibot";
import {
  AppendFile,
  onDisk,
  readIfThere,
  recoverLines,
  removeIfThere,
} from "../files/disk.ts";
import { replaceFile } from "../files/replace.ts";
import type { Clock } from "./clock.ts";
import {
  fingerprint,
  parseRunInfo,
  RunFolder,
  type RunInfo,
  uniqueName,
  unreadable,
} from "./run_folder.ts";
import { flawOf, type KeptRow } from "../row/csv_row.ts";
import type { Event } from "./protocol.ts";
import { type Calibration, calibrationSchema } from "../measure/figures.ts";
import { recordOf } from "../row/csv.ts";
import { caseText, COLUMNS, rowKey, SCHEMA } from "../row/row.ts";
import { caseKeySchema, rowSchema } from "../row/row_schema.ts";
import { isLoss, LOSSES, type LostConfig } from "../tune/config_book.ts";
import { formatSamples, samplesIn } from "../row/samples.ts";
import { jsonIn, parseJson, spell } from "../files/json_file.ts";

export type { RunInfo } from "./run_folder.ts";

/** A kept row and the repeat, from 0, that it belongs to. */
export interface JournalRow {
  readonly row: KeptRow;
  readonly repeat: number;
}

const rowLineSchema = object({
  schema: literal(SCHEMA),
  repeat: pipe(number(), integer(), minValue(0)),
  row: rowSchema,
});

const lossSchema = object({
  key: caseKeySchema,
  config: string(),
  status: picklist(LOSSES),
  note: string(),
  sourceHash: string(),
});

/** A config that was lost, and the sources that it was made from. */
export interface KeptLoss extends LostConfig {
  readonly sourceHash: string;
}

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
  /** The name of the run in its rows: an unfinished run keeps it, no other has it. */
  readonly run: string;
  /** True if there were rows of an earlier start. */
  readonly resumed: boolean;
  /** Messages about damaged parts of an earlier start, which were left out. */
  readonly notes: readonly string[];
  /** Configs that took their worker with them before this start. */
  readonly lost: readonly KeptLoss[];
  readonly #rows = new Map<string, JournalRow>();
  readonly #owned = new DisposableStack();
  readonly #folder: RunFolder;
  readonly #journal: AppendFile;
  readonly #samples: AppendFile;
  readonly #search: AppendFile;

  /**
   * Opens the journal of a run under `root`, going on with what is there. What a crash
   * left of a last line is cut off.
   *
   * @throws {UserError} Where another process has it, the disk refuses, or what is there is
   * damaged or of another schema.
   */
  constructor(root: string, info: RunInfo, options: JournalOptions = {}) {
    using undo = new DisposableStack();
    undo.use(this.#owned);
    this.#folder = this.#owned.use(
      new RunFolder(root, fingerprint(info), options.clock),
    );
    if (options.fresh) this.#folder.empty();
    this.info = this.#remember(info);
    this.run = this.info.run ?? fingerprint(info);
    for (const entry of this.#readRows()) {
      if (options.stillValid?.(entry.row) === false) continue;
      this.#keep(entry);
    }
    this.resumed = this.#rows.size > 0;
    const tried = recoverLines(this.#folder.file("search.jsonl"));
    this.lost = tried.split("\n")
      .flatMap((line) => jsonIn(lossSchema, line) ?? []);
    this.#journal = this.#open("journal.jsonl");
    this.#samples = this.#open("samples.jsonl");
    this.#search = this.#open("search.jsonl");
    this.notes = this.#dropCalibration();
    undo.move();
  }

  /** Every row that counts, in the order of measuring. */
  get rows(): readonly JournalRow[] {
    return [...this.#rows.values()];
  }

  /** Keys, as text, of the cases that need not run again in a repeat. */
  done(repeat: number): ReadonlySet<string> {
    const rows = this.rows.filter((r) => r.repeat === repeat);
    return new Set(rows.map(({ row }) => caseText(row.key)));
  }

  /** The configs of a repeat's timed rows, by key text. */
  winners(repeat: number): Record<string, string> {
    const timed = this.rows.filter((entry) =>
      entry.repeat === repeat && entry.row.status === "ok"
    );
    const configs = timed.map(({ row }) => [caseText(row.key), row.config]);
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
      const { run = this.run } = row.provenance;
      const key = rowKey(row);
      const line = { key, run: `${run}`, repeat, samples_ns: samples };
      this.#samples.append(`${formatSamples(line)}\n`, true);
    }
    const line = JSON.stringify({ schema: SCHEMA, repeat, row }, spell);
    this.#journal.append(`${line}\n`, true);
    this.#keep({ row, repeat });
  }

  /**
   * Adds a config that was tried. It is waited for where trying it again would cost a worker.
   *
   * @param sourceHash Of the config's sources, where it was lost.
   */
  appendConfig(
    { event: _, ...tried }: Extract<Event, { event: "config" }>,
    { repeat, sourceHash = "" }: {
      readonly repeat: number;
      readonly sourceHash?: string | undefined;
    },
  ): void {
    const line = JSON.stringify({ ...tried, repeat, sourceHash }, spell);
    this.#search.append(`${line}\n`, isLoss(tried));
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

  /** The folder of the run. */
  get folder(): string {
    return this.#folder.path;
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
    const id = `${entry.repeat} ${caseText(entry.row.key)}`;
    this.#rows.delete(id);
    this.#rows.set(id, entry);
  }

  /** Reads the rows by the rules of a CSV, since they will stand in one. */
  #readRows(): readonly JournalRow[] {
    const path = this.#folder.file("journal.jsonl");
    return recoverLines(path).split("\n").slice(0, -1).map((line, i) => {
      const refuse = (why: string) => unreadable(path, `line ${i + 1}, ${why}`);
      const { row, repeat } = parseJson(rowLineSchema, line, refuse);
      if (row.status === "checked") throw refuse("its row has no time");
      const record = recordOf(row);
      for (const column of COLUMNS) {
        const flaw = flawOf(column, record[column]);
        if (flaw === undefined) continue;
        throw refuse(`column ${column} is ${show(record[column])}: ${flaw}`);
      }
      return { row, repeat };
    });
  }

  #remember(asked: RunInfo): RunInfo {
    const path = this.#folder.file("run.json");
    const text = readIfThere(path);
    if (text !== undefined) return parseRunInfo(text, path);
    const info = { ...asked, run: uniqueName(asked) };
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

  /** Opens a file behind its last whole line. */
  #open(name: string): AppendFile {
    const path = this.#folder.file(name);
    recoverLines(path);
    return this.#owned.use(new AppendFile(path));
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

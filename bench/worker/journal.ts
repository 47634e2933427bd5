/**
 * Keeps an unfinished run in a folder. Every row is added at once, so that the same command continues
 * where it was stopped.
 *
 * `run.json` has the selection and settings, `journal.jsonl` the rows with their samples,
 * `search.jsonl` the tried configs, `calibration.json` the measured limits of the device. Lines and
 * files have a checksum, by which damage is detected.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import {
  array,
  exactOptional,
  integer,
  is,
  literal,
  minValue,
  number,
  object,
  picklist,
  pipe,
  readonly,
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
import { counted } from "../files/terminal_text.ts";
import type { Clock } from "./clock.ts";
import {
  fingerprint,
  parseRunInfo,
  RunFolder,
  type RunInfo,
  uniqueName,
} from "./run_folder.ts";
import type { KeptRow } from "../row/csv_row.ts";
import type { Event } from "./protocol.ts";
import { type Calibration, calibrationSchema } from "../measure/figures.ts";
import { caseText, rowKey, SCHEMA } from "../row/row.ts";
import { caseKeySchema, rowSchema } from "../row/row_schema.ts";
import { isLoss, LOSSES, type LostConfig } from "../tune/config_book.ts";
import { formatSamples } from "../row/samples.ts";
import {
  isSealed,
  jsonIn,
  parseJson,
  seal,
  spell,
  UNSEALED,
} from "../files/json_file.ts";

export type { RunInfo } from "./run_folder.ts";

/** A kept row and the repeat, from 0, that it belongs to. */
interface JournalRow {
  readonly row: KeptRow;
  readonly repeat: number;
  /** Nanoseconds, in the order in which they were taken. */
  readonly samples?: readonly number[];
}

const rowLineSchema = object({
  schema: literal(SCHEMA),
  repeat: pipe(number(), integer(), minValue(0)),
  row: rowSchema,
  samples: exactOptional(pipe(array(number()), readonly())),
  sum: string(),
});

const configLineSchema = object({ status: string(), sum: string() });

const lossSchema = object({
  key: caseKeySchema,
  config: string(),
  status: picklist(LOSSES),
  note: string(),
  sourceHash: string(),
});

const calibrationFileSchema = object({
  calibration: calibrationSchema,
  sum: string(),
});

/** A lost config, and the hash of its sources. */
interface KeptLoss extends LostConfig {
  readonly sourceHash: string;
}

/** Options of {@linkcode Journal}. */
interface JournalOptions {
  /** Whether to discard the rows of an earlier start. @default {false} */
  readonly fresh?: boolean;
  /**
   * Returns whether a row of an earlier start is still valid: sources, binary and library are the same.
   *
   * @default {always}
   */
  stillValid?(row: KeptRow): boolean;
  /** The clock for the wait for the folder's lock. @default {the machine's} */
  readonly clock?: Clock;
}

/** The locked folder of a run. */
export class Journal implements Disposable {
  /** The run as it was first started. */
  readonly info: RunInfo;
  /** The name of the run in its rows. It is unique, and kept when the run continues. */
  readonly run: string;
  /** True if an earlier start left rows or tried configs. */
  readonly resumed: boolean;
  /** Configs that earlier starts tried. */
  readonly tried: number;
  /** Messages about discarded parts of earlier starts. */
  readonly notes: readonly string[];
  /** Configs that ended their worker in earlier starts. */
  readonly lost: readonly KeptLoss[];
  readonly #rows = new Map<string, JournalRow>();
  readonly #owned = new DisposableStack();
  readonly #folder: RunFolder;
  readonly #journal: AppendFile;
  readonly #search: AppendFile;

  /**
   * Opens the journal of a run under `root` and reads the rows of earlier starts. An incomplete last
   * line, as a crash leaves it, is removed.
   *
   * @throws {UserError} If another process has the journal open, the disk fails, or a file is damaged or
   * of another schema.
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
    let dropped = 0;
    for (const entry of this.#readRows()) {
      if (options.stillValid?.(entry.row) === false) {
        // Without a message for failed rows: they are always run again.
        if (entry.row.status === "ok") dropped++;
      } else this.#keep(entry);
    }
    const notes: string[] = dropped === 0 ? [] : [
      `Measuring ${
        counted(dropped, "row")
      } of the run of ${this.info.started} again: kernels changed since`,
    ];
    const tried = this.#readTried(notes);
    this.lost = tried.filter((one) => is(lossSchema, one));
    this.tried = tried.length;
    this.resumed = this.#rows.size > 0 || tried.length > 0;
    this.#journal = this.#open("journal.jsonl");
    this.#search = this.#open("search.jsonl");
    this.#dropCalibration(notes);
    this.notes = notes;
    undo.move();
  }

  /** The last row of each case and repeat, in the order of measurement. */
  get rows(): readonly JournalRow[] {
    return [...this.#rows.values()];
  }

  /** Returns the texts of the keys of cases that have a row in `repeat`. */
  done(repeat: number): ReadonlySet<string> {
    const rows = this.rows.filter((r) => r.repeat === repeat);
    return new Set(rows.map(({ row }) => caseText(row.key)));
  }

  /** The configs of timed rows by the text of their keys; of several repeats, that of the first. */
  get winners(): Record<string, string> {
    const timed = this.rows.filter(({ row }) => row.status === "ok")
      .toSorted((a, b) => b.repeat - a.repeat);
    const configs = timed.map(({ row }) => [caseText(row.key), row.config]);
    return Object.fromEntries(configs) as Record<string, string>;
  }

  /**
   * Adds a row and waits until it is on the disk.
   *
   * @param samples Nanoseconds, in the order in which they were taken. They are on the line of the row,
   * so that each row has its samples also after a crash.
   * @throws {UserError} If the disk fails. Earlier rows stay.
   */
  append({ row, repeat }: JournalRow, samples?: readonly number[]): void {
    const entry = { repeat, row, ...(samples && { samples }) };
    this.#journal.append(lineOf({ schema: SCHEMA, ...entry }), true);
    this.#keep(entry);
  }

  /**
   * Adds a tried config. Waits until it is on the disk if the config ended its worker.
   *
   * @param sourceHash The hash of the sources of a lost config.
   */
  appendConfig(
    { event: _, ...tried }: Extract<Event, { event: "config" }>,
    { repeat, sourceHash = "" }: {
      readonly repeat: number;
      readonly sourceHash?: string | undefined;
    },
  ): void {
    this.#search.append(
      lineOf({ ...tried, repeat, sourceHash }),
      isLoss(tried),
    );
  }

  /** The last calibration of the device. */
  get calibration(): Calibration | undefined {
    const text = readIfThere(this.#folder.file(CALIBRATION));
    if (text === undefined) return undefined;
    const content = jsonIn(calibrationFileSchema, text);
    return content && isSealed(content) ? content.calibration : undefined;
  }

  /** Keeps the calibration of the device. */
  set calibration(calibration: Calibration) {
    replaceFile(this.#folder.file(CALIBRATION), toJson(seal({ calibration })));
  }

  /** Yields the lines of samples of {@linkcode rows}. */
  *sampleLines(): Generator<string> {
    for (const { row, repeat, samples } of this.rows) {
      if (samples === undefined) continue;
      const { run = this.run } = row.provenance;
      const key = rowKey(row);
      yield formatSamples({ key, run: `${run}`, repeat, samples_ns: samples });
    }
  }

  /** The folder of the run. */
  get folder(): string {
    return this.#folder.path;
  }

  /** Returns the path of a file that is removed with the run. */
  file(name: string): string {
    return this.#folder.file(name);
  }

  /** Closes the journal and removes its folder: the same command then starts again. */
  finish(): void {
    this.#folder.finish();
    this[Symbol.dispose]();
  }

  /** Closes the files and releases the lock. */
  [Symbol.dispose](): void {
    this.#owned.dispose();
  }

  /** Adds a row, which replaces an earlier one of the same case and repeat. */
  #keep(entry: JournalRow): void {
    const id = `${entry.repeat} ${caseText(entry.row.key)}`;
    this.#rows.delete(id);
    this.#rows.set(id, entry);
  }

  #readRows(): readonly JournalRow[] {
    const path = this.#folder.file("journal.jsonl");
    return recoverLines(path).split("\n").slice(0, -1).map((text, i) => {
      const refuse = (why: string) =>
        new UserError(
          `Cannot read ${path}: line ${
            i + 1
          }, ${why}; remove that line to measure its case again, or pass --fresh to measure everything again`,
        );
      const line = parseJson(rowLineSchema, text, refuse);
      const { row, repeat, samples } = line;
      if (row.status === "checked") throw refuse("its row has no time");
      if (!isSealed(line)) throw refuse(UNSEALED);
      return { row, repeat, ...(samples && { samples }) };
    });
  }

  /** @param notes Receives a message for each damaged line, whose config is tried again. */
  #readTried(notes: string[]) {
    const path = this.#folder.file("search.jsonl");
    const lines = recoverLines(path).split("\n").slice(0, -1);
    return lines.flatMap((text, i) => {
      const line = jsonIn(configLineSchema, text);
      if (line && isSealed(line)) {
        const { sum: _, ...tried } = line;
        return [tried];
      }
      notes.push(
        `Left out line ${
          i + 1
        } of ${path}, which is damaged: its config may be tried again`,
      );
      return [];
    });
  }

  #remember(asked: RunInfo): RunInfo {
    const path = this.#folder.file("run.json");
    const text = readIfThere(path);
    if (text !== undefined) return parseRunInfo(text, path);
    const info = { ...asked, run: uniqueName(asked) };
    replaceFile(path, toJson(seal(info)));
    return info;
  }

  /** Removes a damaged calibration, which is measured again. @param notes Receives a message then. */
  #dropCalibration(notes: string[]): void {
    const path = this.#folder.file(CALIBRATION);
    if (readIfThere(path) === undefined || this.calibration) return;
    onDisk(path, () => removeIfThere(path));
    notes.push(
      `Left out ${path}, which is damaged: the next worker writes it anew`,
    );
  }

  /** Opens a file for appending after its last complete line. */
  #open(name: string): AppendFile {
    const path = this.#folder.file(name);
    recoverLines(path);
    return this.#owned.use(new AppendFile(path));
  }
}

const CALIBRATION = "calibration.json";

function lineOf(content: object): string {
  return `${JSON.stringify(seal(content), spell)}\n`;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

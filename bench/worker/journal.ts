/**
 * Keeps an unfinished run: a folder to which every row is added the moment it is
 * known, so that the same command goes on where it was stopped.
 *
 * `run.json` says what was asked, `journal.jsonl` has the rows with their samples,
 * `search.jsonl` the configs that were tried, `calibration.json` what was measured of the
 * device. Lines and files have a checksum: a number that changed by itself is noticed.
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
  /** Nanoseconds, in the order they were taken. */
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

/** A config that was lost, and the sources that it was made from. */
interface KeptLoss extends LostConfig {
  readonly sourceHash: string;
}

/** Options of {@linkcode Journal}. */
interface JournalOptions {
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
  /** True if there were rows of an earlier start, or configs that it tried. */
  readonly resumed: boolean;
  /** Configs that earlier starts tried. */
  readonly tried: number;
  /** Messages about parts of an earlier start that were left out. */
  readonly notes: readonly string[];
  /** Configs that took their worker with them before this start. */
  readonly lost: readonly KeptLoss[];
  readonly #rows = new Map<string, JournalRow>();
  readonly #owned = new DisposableStack();
  readonly #folder: RunFolder;
  readonly #journal: AppendFile;
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
    let dropped = 0;
    for (const entry of this.#readRows()) {
      if (options.stillValid?.(entry.row) === false) {
        // A failure may have been fixed elsewhere, and is always tried again.
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

  /** Every row that counts, in the order of measuring. */
  get rows(): readonly JournalRow[] {
    return [...this.#rows.values()];
  }

  /** Keys, as text, of the cases that need not run again in a repeat. */
  done(repeat: number): ReadonlySet<string> {
    const rows = this.rows.filter((r) => r.repeat === repeat);
    return new Set(rows.map(({ row }) => caseText(row.key)));
  }

  /** The configs of timed rows, by key text; of repeats, that of the first. */
  get winners(): Record<string, string> {
    const timed = this.rows.filter(({ row }) => row.status === "ok")
      .toSorted((a, b) => b.repeat - a.repeat);
    const configs = timed.map(({ row }) => [caseText(row.key), row.config]);
    return Object.fromEntries(configs) as Record<string, string>;
  }

  /**
   * Adds a row and waits until the disk has it.
   *
   * @param samples Nanoseconds, in the order they were taken. They are on the row's own line:
   * a row that is there has its samples, whatever happens.
   * @throws {UserError} Where the disk refuses; rows added before stay.
   */
  append({ row, repeat }: JournalRow, samples?: readonly number[]): void {
    const entry = { repeat, row, ...(samples && { samples }) };
    this.#journal.append(lineOf({ schema: SCHEMA, ...entry }), true);
    this.#keep(entry);
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

  /** Keeps what was measured of the device. */
  set calibration(calibration: Calibration) {
    replaceFile(this.#folder.file(CALIBRATION), toJson(seal({ calibration })));
  }

  /** Lines of samples of the rows that count. */
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

  /** @param notes Gets one for each damaged line: its config is tried again. */
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

  /** Removes one that is damaged, as it is only taken anew. @param notes Gets one then. */
  #dropCalibration(notes: string[]): void {
    const path = this.#folder.file(CALIBRATION);
    if (readIfThere(path) === undefined || this.calibration) return;
    onDisk(path, () => removeIfThere(path));
    notes.push(
      `Left out ${path}, which is damaged: the next worker writes it anew`,
    );
  }

  /** Opens a file behind its last whole line. */
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

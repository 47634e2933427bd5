/**
 * Logs the configs that the searches of a run tried.
 *
 * @module
 */

import { parse } from "@std/csv";
import { AppendFile, recoverLines } from "../files/append_file.ts";
import { onDisk, removeIfThere } from "../files/disk.ts";
import { isLoss, type LostConfig } from "../tune/crashed_configs.ts";
import type { Event } from "./protocol.ts";
import { type Key, KEY_COLUMNS } from "../row/row.ts";
import { writeTable } from "../row/csv.ts";

const COLUMNS = [
  ...KEY_COLUMNS,
  ...["config", "status", "median_us", "note", "repeat", "source_hash"],
];
const HEADER = writeTable([COLUMNS]);

/** A config that was lost, and the sources that it was made from. */
export interface KeptLoss extends LostConfig {
  readonly sourceHash: string;
}

/** Fields of a config that its worker does not know. */
export interface SearchLine {
  /** From 0. */
  readonly repeat: number;
  /** Of the config's sources, where it was lost. @default {""} */
  readonly sourceHash?: string | undefined;
}

/** The table of a run, open for adding to. */
export class SearchLog implements Disposable {
  /** Configs that an earlier start lost. */
  readonly lost: readonly KeptLoss[];
  /** Messages about parts of an earlier start that cannot be read. */
  readonly notes: readonly string[];
  readonly #file: AppendFile;

  /**
   * Opens `path`, making it where it is missing. One that cannot be read is begun again:
   * it only spares what failed from being tried once more.
   *
   * @throws {UserError} Where the disk refuses.
   */
  constructor(path: string) {
    let text = recoverLines(path, true);
    const records = recordsOf(text);
    this.lost = (records ?? []).flatMap(lossOf);
    this.notes = records === undefined
      ? [`Left out ${path}, which is damaged or of another version`]
      : [];
    if (records === undefined) {
      onDisk(path, () => removeIfThere(path));
      text = "";
    }
    this.#file = new AppendFile(path);
    if (text === "") this.#file.append(HEADER, true);
  }

  /** Adds a config. Waited for only where trying it again would cost a worker. */
  append(
    event: Extract<Event, { event: "config" }>,
    { repeat, sourceHash = "" }: SearchLine,
  ): void {
    const { key, config, status, median_us = "", note } = event;
    const fields = [
      ...KEY_COLUMNS.map((column) => key[column]),
      ...[config, status, `${median_us}`, note, `${repeat}`, sourceHash],
    ];
    this.#file.append(writeTable([fields]), isLoss(event));
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

type Line = Readonly<Record<string, string>>;

/** The lines behind `text`; nothing where it is another table, or none. */
function recordsOf(text: string): readonly Line[] | undefined {
  if (text === "") return [];
  if (!text.startsWith(HEADER)) return undefined;
  try {
    const [, ...lines] = parse(text);
    if (lines.some(({ length }) => length !== COLUMNS.length)) return undefined;
    return lines.map((fields) =>
      Object.fromEntries(COLUMNS.map((column, i) => [column, fields[i]!]))
    );
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

function lossOf(line: Line): readonly KeptLoss[] {
  const { config, status, note, source_hash } = line;
  const one = {
    key: Object.fromEntries(KEY_COLUMNS.map((c) => [c, line[c]!])) as Key,
    config: config!,
    status: status!,
    note: note!,
    sourceHash: source_hash!,
  };
  return isLoss(one) ? [one] : [];
}

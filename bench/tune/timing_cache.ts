/**
 * Stores winning configs by all that decides them, in memory and in a file.
 *
 * The operations are those of TensorRT's timing cache: query, update, combine where what is
 * there stays, and forget.
 *
 * @module
 */

import { readIfThere } from "../files/disk.ts";
import { hashOf } from "../files/hash.ts";
import { lockFile } from "../files/lock.ts";
import { assertWritable, replaceFile } from "../files/replace.ts";
import {
  canonicalJson,
  isSealedOrOld,
  parseJson,
  seal,
  UNSEALED,
} from "../files/json_file.ts";
import { UserError } from "../model/errors.ts";
import { CASE_COLUMNS } from "../row/row.ts";
import { each } from "../row/row_schema.ts";
import { MOST_LEVEL } from "./levels.ts";
import {
  check,
  exactOptional,
  finite,
  gtValue,
  type InferOutput,
  integer,
  literal,
  maxValue,
  minValue,
  number,
  object,
  parse,
  pipe,
  record,
  strictObject,
  string,
  transform,
} from "valibot";

/** Columns of a case but its suite: suites share what they have in common. */
const [, ...PROBLEM_COLUMNS] = CASE_COLUMNS;

/** The fields of a key; each is text. */
export const TIMING_FIELDS = [
  ...PROBLEM_COLUMNS,
  "alignment",
  "workspace",
  "device",
  "arch",
  "units",
  "driver",
  "compiler",
  "library",
  "source",
  "harness",
  "timer",
  "cache",
  "flush",
  "fill",
] as const;

const timingKeySchema = object(each(TIMING_FIELDS, string()));

/** A key as text by field. */
export type TimingKey = Readonly<InferOutput<typeof timingKeySchema>>;

/** Returns the identity of a key: equal for equal keys, and only for them. */
export function timingId(key: TimingKey): string {
  return hashOf(canonicalJson(key));
}

const LEVEL = `it must be a whole number from 1 to ${MOST_LEVEL}`;

/** Of what JSON has no number for, the greatest one: an error of infinity is no time. */
const greatest = pipe(
  number(),
  minValue(0),
  transform((error) => Math.min(error, Number.MAX_VALUE)),
);

/** The schema of the winner of a search. */
export const timingEntrySchema = object({
  key: timingKeySchema,
  /** The winning config, as `formatValues` writes it; empty for a kernel that has one. */
  config: string(),
  /** Its median in the finals. */
  us: pipe(
    number(),
    finite("it must be a time in microseconds"),
    gtValue(0, "it must be above 0"),
  ),
  /** Errors of its output against the reference. */
  error: object({ max_abs: greatest, max_rel: greatest }),
  /** The level of the search, 1 to 5. */
  level: pipe(
    number(),
    integer(LEVEL),
    minValue(1, LEVEL),
    maxValue(MOST_LEVEL, LEVEL),
  ),
  /** When it was found, ISO 8601. */
  date: string(),
});

/** The winner of a search. */
export type TimingEntry = Readonly<InferOutput<typeof timingEntrySchema>>;

/** The `format` of a file. */
const FORMAT = "mnkbench timing cache";
/** The version of keys and values; another one is refused. */
const VERSION = 1;

const fileSchema = strictObject({
  format: literal(FORMAT),
  version: literal(VERSION),
  entries: record(
    string(),
    pipe(
      strictObject({
        ...timingEntrySchema.entries,
        sum: exactOptional(string()),
      }),
      check((entry) => isSealedOrOld(entry), UNSEALED),
    ),
  ),
});

/** Entries by the identity of their keys. */
export class TimingCache {
  readonly #entries = new Map<string, TimingEntry>();

  /** @param entries Of two with the same key, the later. */
  constructor(entries: Iterable<TimingEntry> = []) {
    for (const entry of entries) this.put(entry);
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Every entry with its name, in the order in which they came. */
  get entries(): readonly (readonly [string, TimingEntry])[] {
    return [...this.#entries];
  }

  /** Looks up the entry of `key`. */
  query(key: TimingKey): TimingEntry | undefined {
    return this.#entries.get(timingId(key));
  }

  /** Keeps `entry` in the place of what was there. */
  put(entry: TimingEntry): void {
    this.#entries.set(timingId(entry.key), parse(timingEntrySchema, entry));
  }

  /**
   * Keeps what was just found, unless something was found by a harder search since.
   */
  improve(entry: TimingEntry): void {
    const known = this.query(entry.key);
    if (known === undefined || known.level <= entry.level) this.put(entry);
  }

  /** Takes over what it has no entry for; what is there stays. @returns How many. */
  merge(other: TimingCache): number {
    const before = this.size;
    for (const [id, entry] of other.#entries) {
      if (!this.#entries.has(id)) this.#entries.set(id, entry);
    }
    return this.size - before;
  }

  /**
   * Changes the config of the entry named `id`; its time stays what it was.
   *
   * @returns Whether there is such an entry.
   */
  edit(id: string, config: string): boolean {
    const entry = this.#entries.get(id);
    if (entry) this.#entries.set(id, { ...entry, config });
    return entry !== undefined;
  }

  /** Removes the entries that `matches`. @returns How many. */
  forget(matches: (entry: TimingEntry, id: string) => boolean): number {
    const doomed = this.entries.filter(([id, entry]) => matches(entry, id));
    for (const [id] of doomed) this.#entries.delete(id);
    return doomed.length;
  }

  /** The text of a file: JSON with a line for each entry. */
  format(): string {
    const lines = this.entries.toSorted(([a], [b]) => a < b ? -1 : 1).map((
      [id, entry],
    ) => `    ${JSON.stringify(id)}: ${JSON.stringify(seal(entry))}`);
    return `{
  "format": ${JSON.stringify(FORMAT)},
  "version": ${VERSION},
  "entries": {
${lines.join(",\n")}
  }
}
`;
  }

  /**
   * The cache behind the text of a file.
   *
   * @param file Named in errors.
   * @param wayOut What errors end with.
   * @throws {UserError} Where it is not one of {@linkcode TimingCache.format}, whole.
   */
  static parse(
    text: string,
    file: string,
    wayOut: string = "move it away, or name another with --timing-cache FILE",
  ): TimingCache {
    const refuse = (why: string) =>
      new UserError(`Cannot use the timing cache ${file}: ${why}; ${wayOut}`);
    const { entries } = parseJson(fileSchema, text, refuse);
    const cache = new TimingCache();
    for (const [id, entry] of Object.entries(entries)) {
      if (timingId(entry.key) !== id) {
        throw refuse(`field entries.${id}: it is not the name of its key`);
      }
      cache.#entries.set(id, parse(timingEntrySchema, entry));
    }
    return cache;
  }
}

/**
 * Reads the timings in the file at `path`; empty where there is none.
 *
 * @param wayOut What errors about its content end with.
 * @throws {UserError} Where there is one that is damaged, foreign or unreadable.
 */
export function readTimings(path: string, wayOut?: string): TimingCache {
  const text = readIfThere(path);
  return text === undefined
    ? new TimingCache()
    : TimingCache.parse(text, path, wayOut);
}

/**
 * Makes sure, before long work, that {@linkcode changeTimings} can change the file at `path`.
 *
 * @throws {UserError} Where it cannot.
 */
export function assertChangeable(path: string): void {
  using _lock = lockFile(path);
  readTimings(path);
  assertWritable(path);
}

/**
 * Changes the file at `path`, alone: what others wrote before is in what `change` gets.
 *
 * @returns What `change` returns.
 * @throws {UserError} As {@linkcode readTimings}, and where the disk refuses; the file is
 * as it was.
 */
export function changeTimings<T>(
  path: string,
  change: (timings: TimingCache) => T,
): T {
  using _lock = lockFile(path);
  const timings = readTimings(path);
  const before = timings.format();
  const result = change(timings);
  const after = timings.format();
  if (after !== before) replaceFile(path, after);
  return result;
}

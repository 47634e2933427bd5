/**
 * `mnkbench tune list`, `edit`, `forget` and `merge`: shows and changes what tuning remembers.
 *
 * @module
 */

import { shownJson } from "../../../bench/files/json_file.ts";
import { object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import { argument } from "@optique/core/primitives";
import { counted } from "../../../bench/files/terminal_text.ts";
import { readIfThere } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { parseValues } from "../../../bench/model/grid.ts";
import {
  changeTimings,
  readTimings,
  TIMING_FIELDS,
  TimingCache,
  type TimingEntry,
} from "../../../bench/tune/timing_cache.ts";
import { formatMicroseconds } from "../../../report/table/metrics.ts";
import { quoted, timingCacheOf, typed } from "../../../session/home.ts";
import { unknown } from "../../../session/cases.ts";
import { type Command, define } from "../../command.ts";
import {
  about,
  kernelCache,
  maybe,
  timingCache,
  toggle,
} from "../../options/flags.ts";
import { name, path } from "../../options/readers.ts";
import { logLine, printLine } from "../../terminal/output.ts";

/** The sub-commands of `tune`. */
export const parts: readonly Command[] = [
  define({
    name: "tune list",
    brief: "List the cached configs.",
    examples: [
      "tune list",
      'tune list --only "kernel=decompose-k m=16" --json',
    ],
    codes: { 0: "the entries are printed" },
    flags: () =>
      object({
        only: maybe(
          "--only",
          name("WORDS", []),
          "List only entries that have all of these words.",
        ),
        json: toggle("--json", "Print the entries as lines of JSON."),
        ...files(),
      }),
    run: list,
  }),
  define({
    name: "tune edit",
    brief: "Change the config of an entry.",
    examples: [
      'tune edit "1f00ba5e1f00ba5e:BM=16 SPLIT=64"',
      "tune edit 1f00ba5e1f00ba5e:BM=16 --timing-cache timings.json",
    ],
    codes: { 0: "the entry is changed" },
    flags: () =>
      object({
        entry: argument(
          name("ID:CONFIG", []),
          about(
            "ID of the entry, as `tune list` prints it, and its new config.",
          ),
        ),
        ...files(),
      }),
    run: edit,
  }),
  define({
    name: "tune forget",
    brief: "Remove entries, so that they are searched again.",
    examples: [
      'tune forget "kernel=decompose-k m=16"',
      "tune forget 1f00ba5e1f00ba5e --dry-run",
    ],
    codes: {
      0: "an entry was removed, or would be",
      3: "no entry has these words",
    },
    flags: () =>
      object({
        words: argument(
          name("WORDS", []),
          about("Remove the entries that have all of these words, or this ID."),
        ),
        dryRun: toggle(
          "--dry-run",
          "List the entries that would be removed, and change nothing.",
        ),
        ...files(),
      }),
    run: forget,
  }),
  define({
    name: "tune merge",
    brief:
      "Add the entries of other timing caches, and keep those that are there.",
    examples: [
      "tune merge ../other/timings.json",
      "tune merge a.json b.json --timing-cache all.json",
    ],
    codes: { 0: "the entries are added" },
    flags: () =>
      object({
        files: multiple(
          argument(path("FILE"), about("Timing caches.")),
          { min: 1 },
        ),
        ...files(),
      }),
    run: merge,
  }),
];

/** The options for the file of the timing cache. */
function files() {
  return { timingCache: timingCache(), kernelCache: kernelCache() };
}

interface Files {
  readonly timingCache: string | undefined;
  readonly kernelCache: string | undefined;
}

function pathOf({ timingCache, kernelCache }: Files): string {
  return timingCacheOf(timingCache, kernelCache);
}

/** Adds what `files` have. All are read before anything is changed. */
function merge(
  options: Files & { readonly files: readonly string[] },
): number {
  const others = options.files.map((file) => {
    const text = readIfThere(file);
    if (text !== undefined) {
      return { file, timings: TimingCache.parse(text, file) };
    }
    throw new UserError(`Cannot merge ${file}: there is no such file`);
  });
  changeTimings(pathOf(options), (timings) => {
    for (const { file, timings: other } of others) {
      const taken = timings.merge(other);
      printLine(
        `${file}: took ${taken} of ${other.size}, ${
          other.size - taken
        } were there`,
      );
    }
  });
  return EXIT.ok;
}

/** Changes the config of one entry. */
function edit(options: Files & { readonly entry: string }): number {
  const { entry: text } = options;
  const path = pathOf(options);
  const [id, config] = [
    text.slice(0, text.indexOf(":")),
    text.slice(text.indexOf(":") + 1).trim(),
  ];
  if (!text.includes(":") || !/^(\S+=\S+( |$))*$/.test(config)) {
    throw new UserError(
      `Cannot edit ${text}: give an entry and its config, as in tune edit "1f00ba5e1f00ba5e:BM=16 SPLIT=64"`,
    );
  }
  changeTimings(path, (timings) => {
    const entry = timings.entries.find(([known]) => known === id)?.[1];
    refuseTunables(config, entry);
    if (timings.edit(id, config)) return;
    throw new UserError(
      `Cannot edit ${id}: the timing cache has no such entry; \`${
        typed(`tune list --timing-cache ${quoted(path)}`)
      }\` lists them`,
    );
  });
  printLine(`${id}: set to ${config}`);
  return EXIT.ok;
}

/** @throws {UserError} Where `config` has not the tunables of the config of `entry`. */
function refuseTunables(config: string, entry: TimingEntry | undefined): void {
  const names = Object.keys(parseValues(entry?.config ?? ""));
  if (names.length === 0) return;
  const given = Object.keys(parseValues(config));
  const other = given.find((name) => !names.includes(name));
  if (other !== undefined) {
    throw unknown(`tunable of ${entry!.key.kernel}`, other, names);
  }
  const missing = names.filter((name) => !given.includes(name));
  if (missing.length > 0) {
    throw new UserError(
      `Cannot set ${entry!.key.kernel} to ${config || "no config"}: it lacks ${
        missing.join(", ")
      }; give all, as in ${entry!.config}`,
    );
  }
}

/** Removes the entries that have all of `words`, or lists them. */
function forget(
  options: Files & { readonly words: string; readonly dryRun: boolean },
): number {
  if (options.dryRun) {
    const timings = readTimings(pathOf(options));
    const matches = matcher(options.words, timings);
    const found = timings.entries.filter(([id, entry]) => matches(entry, id));
    for (const [id, entry] of found) printLine(lineOf(id, entry));
    logLine(`Would forget ${counted(found.length, "entry", "entries")}`);
    return found.length > 0 ? EXIT.ok : EXIT.nothing;
  }
  const count = changeTimings(
    pathOf(options),
    (timings) => timings.forget(matcher(options.words, timings)),
  );
  printLine(`Forgot ${counted(count, "entry", "entries")}`);
  return count > 0 ? EXIT.ok : EXIT.nothing;
}

/** Prints the entries, or those that have all words of `only`. */
function list(
  options: Files & {
    readonly only: string | undefined;
    readonly json: boolean;
  },
): number {
  const { only, json } = options;
  const path = pathOf(options);
  const all = readTimings(path);
  const matches = only === undefined ? () => true : matcher(only, all);
  const entries = all.entries.filter(([id, entry]) => matches(entry, id));
  for (const [id, entry] of entries) {
    printLine(json ? shownJson({ id, ...entry }) : lineOf(id, entry));
  }
  logLine(
    readIfThere(path) === undefined
      ? `The timing cache is empty: there is no ${path}`
      : `${counted(entries.length, "entry", "entries")} in ${path}`,
  );
  return EXIT.ok;
}

function lineOf(id: string, entry: TimingEntry): string {
  const { key, config, us, level, date } = entry;
  return [
    id,
    key.kernel,
    `${key.m}×${key.n}×${key.k}`,
    [key.a_type, key.layout, key.params].filter(Boolean).join(" "),
    key.timer,
    config,
    `${formatMicroseconds(us)} µs`,
    `level ${level}`,
    key.device,
    date.slice(0, 10),
  ].join("  ");
}

/**
 * Makes a test of entries of `timings`: each word of `text` is the entry's ID or a part of
 * its key.
 *
 * @throws {UserError} For a `name=value` whose name no entry has.
 */
function matcher(
  text: string,
  timings: TimingCache,
): (entry: TimingEntry, id: string) => boolean {
  const words = text.split(/\s+/).filter((word) => word !== "");
  refuseNames(words, timings);
  return ({ key }, id) => {
    const own = [
      id,
      ...Object.values(key),
      ...Object.entries(key).map(([name, value]) => `${name}=${value}`),
      ...key.params.split(" "),
      ...key.device.split(" "),
    ];
    return words.every((word) => own.includes(word));
  };
}

/** @throws {UserError} Where a word begins with a name that is no field of any entry. */
function refuseNames(words: readonly string[], { entries }: TimingCache): void {
  // Without entries nobody can tell which parameters there are.
  if (entries.length === 0) return;
  const names = [
    ...new Set([
      ...TIMING_FIELDS,
      ...entries.flatMap(([, { key }]) => Object.keys(parseValues(key.params))),
    ]),
  ];
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 0 || names.includes(word.slice(0, at))) continue;
    throw unknown("field of a timing", word.slice(0, at), names);
  }
}

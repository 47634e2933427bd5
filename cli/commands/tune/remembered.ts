/**
 * `mnkbench timings`: shows and changes what tuning remembers.
 *
 * @module
 */

import { readIfThere } from "../../../bench/files/disk.ts";
import { EXIT, type ExitCode, UserError } from "../../../bench/model/errors.ts";
import { parseValues } from "../../../bench/model/grid.ts";
import { TimingCache } from "../../../bench/tune/timing_cache.ts";
import type { TimingEntry } from "../../../bench/tune/timing_entry.ts";
import { changeTimings, readTimings } from "../../../bench/tune/timing_file.ts";
import { TIMING_FIELDS } from "../../../bench/tune/timing_key.ts";
import { formatMicroseconds } from "../../../report/table/table.ts";
import { quoted } from "../../terminal/command_words.ts";
import { fromHere, timingCacheOf } from "../../../session/home.ts";
import { unknown } from "../../../session/select.ts";
import { say, tell } from "../../terminal/output.ts";
import type { TimingsOptions } from "../../../session/tune_options.ts";

/** Shows the entries, or changes them. @returns The exit code. */
export function timings(options: TimingsOptions): Promise<number> {
  const path = timingCacheOf(options.timingCache, options.kernelCache);
  const changes = [
    options.merge.length > 0 ? merge(path, options.merge) : undefined,
    options.set === undefined ? undefined : set(path, options.set),
    options.forget === undefined ? undefined : forget(path, options.forget),
  ].filter((code) => code !== undefined);
  return Promise.resolve(
    changes.length > 0 ? Math.max(...changes) : list(path, options),
  );
}

/** Takes over what `files` have. All are read before anything is changed. */
function merge(path: string, files: readonly string[]): ExitCode {
  const others = files.map((file) => {
    const text = readIfThere(fromHere(file));
    if (text !== undefined) {
      return { file, timings: TimingCache.parse(text, file) };
    }
    throw new UserError(`Cannot merge ${file}: there is no such file`);
  });
  changeTimings(path, (timings) => {
    for (const { file, timings: other } of others) {
      const taken = timings.merge(other);
      say(
        `${file}: took ${taken} of ${other.size}, ${
          other.size - taken
        } were there`,
      );
    }
  });
  return EXIT.ok;
}

/** Changes the config of one entry. */
function set(path: string, text: string): ExitCode {
  const [id, config] = [
    text.slice(0, text.indexOf(":")),
    text.slice(text.indexOf(":") + 1).trim(),
  ];
  if (!text.includes(":") || !/^(\S+=\S+( |$))*$/.test(config)) {
    throw new UserError(
      `Cannot set ${text}: give an entry and its config, as in --set "1f00ba5e1f00ba5e:BM=16 SPLIT=64"`,
    );
  }
  changeTimings(path, (timings) => {
    if (timings.edit(id, config)) return;
    throw new UserError(
      `Cannot set ${id}: the timing cache has no such entry; \`mnkbench timings --timing-cache ${
        quoted(path)
      }\` lists them`,
    );
  });
  say(`${id}: set to ${config}`);
  return EXIT.ok;
}

/** Removes entries. */
function forget(path: string, words: string): ExitCode {
  const count = changeTimings(
    path,
    (timings) => timings.forget(matcher(words, timings)),
  );
  say(`Forgot ${count} ${count === 1 ? "entry" : "entries"}`);
  return count > 0 ? EXIT.ok : EXIT.nothing;
}

function list(
  path: string,
  { only, json }: TimingsOptions,
): ExitCode {
  const all = readTimings(path);
  const matches = only === undefined ? () => true : matcher(only, all);
  const entries = all.entries.filter(([id, entry]) => matches(entry, id));
  for (const [id, entry] of entries) {
    say(json ? JSON.stringify({ id, ...entry }) : lineOf(id, entry));
  }
  tell(
    readIfThere(path) === undefined
      ? `Nothing was remembered yet: there is no ${path}`
      : `${entries.length} ${
        entries.length === 1 ? "entry" : "entries"
      } in ${path}`,
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
    `${formatMicroseconds(us)} us`,
    `level ${level}`,
    key.device,
    date.slice(0, 10),
  ].join("  ");
}

/**
 * Whether an entry of `timings` has each of the words of `text`: its name, or a part of its
 * key.
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

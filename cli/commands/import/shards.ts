/**
 * Joins the shards of a run: what they must have in common, and which cases are missing.
 *
 * @module
 */

import { dirname } from "node:path";
import { counted } from "../../../bench/files/terminal_text.ts";
import { UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { streamRows } from "../../../bench/row/read_csv.ts";
import { caseText } from "../../../bench/row/row.ts";
import { titleOf } from "../../../session/phase_note.ts";
import {
  casesOfShards,
  type ShardFile,
  shardsIn,
} from "../../../session/share/shards.ts";
import type { Source } from "./recorded.ts";

/** A shard, and the folder of its rows. */
type Found = ShardFile & { readonly path: string; readonly folder: string };

/**
 * The shards in the folders of `files`; empty where none of the folders has one.
 *
 * @throws {UserError} Where one is no shard, is there twice, or is of another run than the others.
 */
export function shardsOf(files: readonly string[]): readonly Found[] {
  const folders = [...new Set(files.map((file) => dirname(dirname(file))))];
  const found = folders.map((folder) => ({ folder, own: shardsIn(folder) }));
  const all = found.flatMap(({ folder, own }) =>
    own.map((one) => ({ ...one, folder }))
  );
  const stray = found.find(({ own }) => own.length === 0);
  if (stray !== undefined && all.length > 0) {
    throw new UserError(
      `Cannot import ${stray.folder} with the shard in ${
        all[0]!.folder
      }: it has no file shard-I-of-N.json, which \`bench --shard\` writes; import it by itself`,
    );
  }
  const seen = new Map<number, Found>();
  for (const one of all) {
    const { index, count } = one.shard;
    const other = seen.get(index);
    const what = `shard ${index}/${count}`;
    if (other !== undefined) {
      throw new UserError(
        `Cannot import ${one.path}: ${other.path} is ${what} too; import only one of the two`,
      );
    }
    seen.set(index, one);
    demandSame(all[0]!, one);
  }
  return all;
}

/** @throws {UserError} Where two shards do not belong together, with what differs. */
function demandSame(a: Found, b: Found): void {
  const facts: readonly (readonly [string, (one: Found) => string])[] = [
    ["device", ({ device, arch }) => `${device} (${arch})`],
    ["version", ({ harness }) => harness],
    ["commit", ({ commit }) => commit],
    ["number of shards", ({ shard }) => `${shard.count}`],
    ["settings", ({ settings }) => settings],
    ["selection of cases", ({ cases }) => cases],
  ];
  for (const [name, of] of facts) {
    if (of(a) === of(b)) continue;
    throw new UserError(
      `Cannot import ${b.path}: its ${name} is ${
        of(b)
      }, and that of ${a.path} is ${
        of(a)
      }; import each by itself, or measure that shard again`,
    );
  }
}

/** The folders of `shards`, of which only the rows of these count. */
export function sourcesOf(
  shards: readonly Found[],
  files: readonly string[],
): readonly Source[] {
  return [...Map.groupBy(shards, ({ folder }) => folder)].map(
    ([from, own]) => ({
      from,
      only: { files: within(from, files), runs: own.map(({ run }) => run) },
    }),
  );
}

function within(folder: string, files: readonly string[]): readonly string[] {
  return files.filter((file) => dirname(dirname(file)) === folder);
}

/**
 * Prints the cases without a row, of all shards of the run, how many rows beside them are of no shard,
 * and the suites of users whose rows are of several commits.
 *
 * @returns Their number.
 */
export function printMissing(
  shards: readonly Found[],
  files: readonly string[],
  print: (line: string) => void,
): number {
  const [one] = shards;
  if (one === undefined) return 0;
  const { counts, shard: { count } } = one;
  const found = new Map(shards.map((one) => [one.shard.index, one]));
  const kept = countIn(shards, files, print);
  const lacking = counts.map((cases, i) => {
    const own = found.get(i + 1);
    return {
      index: i + 1,
      run: own?.run,
      lacks: cases - (own ? kept.get(own)! : 0),
    };
  }).filter(({ lacks }) => lacks > 0);
  if (lacking.length === 0) return 0;
  const done = new Set(
    shards.flatMap(({ folder, run }) => [
      ...rowsIn(within(folder, files)).filter((row) => row.run === run)
        .map(caseText),
    ]),
  );
  const parts = casesOfShards(one);
  for (const { index, run, lacks } of lacking) {
    print(
      `Missing of shard ${index}/${count}: ${counted(lacks, "case")}${
        run === undefined ? ", all that it has" : ""
      }`,
    );
    for (const key of parts[index - 1]!) {
      if (!done.has(caseText(key))) print(`  ${titleOf(key)}`);
    }
  }
  return lacking.reduce((sum, { lacks }) => sum + lacks, 0);
}

/** Counts the rows of each shard in its own folder: those that stand elsewhere are not imported. */
function countIn(
  shards: readonly Found[],
  files: readonly string[],
  print: (line: string) => void,
): ReadonlyMap<Found, number> {
  const kept = new Map(shards.map((one) => [one, 0]));
  const commits = new Map<string, Set<string>>();
  for (const [folder, own] of Map.groupBy(shards, (one) => one.folder)) {
    const byRun = new Map(own.map((one) => [one.run, one]));
    let others = 0;
    for (const row of rowsIn(within(folder, files))) {
      const one = byRun.get(row.run);
      if (one) {
        kept.set(one, kept.get(one)! + 1);
        noteCommit(commits, row);
      } else others++;
    }
    if (others > 0) {
      print(
        `Left out of ${folder}: ${counted(others, "row")} of no shard there`,
      );
    }
  }
  for (const [suite, of] of commits) {
    if (of.size < 2) continue;
    print(
      `The rows of ${suite} are of ${of.size} commits of its repository: ${
        [...of].join(", ")
      }`,
    );
  }
  return kept;
}

/** Adds the commit of the repository of the row's suite, if it is known. */
function noteCommit(commits: Map<string, Set<string>>, row: CsvRow): void {
  const { suite, source_commit: commit } = row;
  if (commit === "") return;
  const known = commits.get(suite) ?? new Set();
  commits.set(suite, known.add(commit));
}

function* rowsIn(files: readonly string[]): Generator<CsvRow> {
  for (const file of files) {
    for (const { row } of streamRows(file, { lean: true })) yield row;
  }
}

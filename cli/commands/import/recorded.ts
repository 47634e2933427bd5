/**
 * `mnkbench import` of our own rows: they become recorded results, after a look at what changes.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { writeCsv, writeTable } from "../../../bench/row/csv.ts";
import {
  DuplicateFinder,
  readCsvIfThere,
  type SourcedRow,
  streamRows,
} from "../../../bench/row/read_csv.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { readBytesIfThere, unlessMissing } from "../../../bench/files/disk.ts";
import { counted } from "../../../bench/files/terminal_text.ts";
import { lockFolders, makeTemporary } from "../../../bench/files/lock.ts";
import { contained, replaceFile } from "../../../bench/files/replace.ts";
import { brief, UserError } from "../../../bench/model/errors.ts";
import { COLUMNS, keyText } from "../../../bench/row/row.ts";
import {
  deviceFolder,
  readDeviceFile,
  refuseOtherDevice,
  writeDeviceFile,
} from "../../../bench/row/results.ts";
import { readSamples, writeSamples } from "../../../bench/row/samples.ts";
import {
  FAIL_ON,
  judgeRows,
  measuredIn,
} from "../../../session/library/compare_rows.ts";
import { show } from "../diff.ts";
import { logLine } from "../../terminal/output.ts";
import { quoted } from "../../../session/home.ts";
import { csvFiles } from "../../../session/read_rows.ts";
import { isFailure } from "../../../session/run_job.ts";

/** What to do about a recorded file that cannot be read. */
const WAY_OUT = "fix it or move it away";

/** What to do about a recorded file of another device. */
const ELSEWHERE = "move it away or choose another folder";

/** A CSV of a source, and the runs whose rows count. */
interface Part {
  readonly file: string;
  /** Missing stands for all. */
  readonly runs: readonly string[] | undefined;
}

/** A CSV as it will stand, kept aside until all are shown. */
interface Staged {
  readonly parts: readonly Part[];
  readonly target: string;
  readonly draft: string;
  readonly isNew: boolean;
  readonly fresh: number;
  readonly kept: number;
  /** Failed rows that do not replace one that is ok. */
  readonly left: number;
}

/** A folder, as `bench --out` makes it. */
export interface Source {
  readonly from: string;
  /** Only these CSVs of it, and of them the rows of these runs. @default {all} */
  readonly only?: RunRows;
}

/** The folders of an import, and how it is shown. */
export interface Recording {
  /** No two have the same case. */
  readonly sources: readonly Source[];
  readonly into: string;
  /** Per cent; missing leaves it to `diff`. */
  readonly threshold?: number | undefined;
  /** Write nothing. @default {false} */
  readonly dryRun?: boolean;
  /** Whether failed rows replace times too, as where `bench` writes its rows. @default {false} */
  readonly replaces?: boolean;
  /** Takes each line; missing, nothing is compared with what is replaced. */
  print?(line: string): void;
}

/** The rows of runs in the CSVs that these wrote. */
export interface RunRows {
  readonly files: readonly string[];
  readonly runs: readonly string[];
}

/** Prints what changes, then writes it. @returns The paths of the CSVs. */
export async function importRecorded(
  options: Recording,
): Promise<readonly string[]> {
  const { sources, into } = options;
  const places = (await Promise.all(sources.map(placesIn))).flat();
  using temporary = makeTemporary("mnkbench-import-");
  const folders = [...new Set(places.map(({ place }) => dirname(place)))];
  // Nobody else may write between reading what is there and replacing it.
  using _lock = options.dryRun
    ? undefined
    : await lockFolders(folders.map((folder) => contained(into, folder)), {
      note: logLine,
    });
  const staged: Staged[] = [];
  for (const [place, parts] of Map.groupBy(places, (one) => one.place)) {
    const draft = join(temporary.path, place);
    const target = contained(into, place);
    staged.push(await stage({ parts, target, draft }, options));
  }
  refuseClashes(staged);
  const devices = folders.map((folder) =>
    [folder, deviceIn(sources, folder)] as const
  );
  const targets = staged.map(({ target }) => target);
  const { print } = options;
  if (print) {
    for (const one of staged) await tellOf(one, { ...options, print });
  }
  if (options.dryRun) {
    print?.("nothing was written");
    return targets;
  }
  for (const { target, draft } of staged) {
    // The samples first: those of rows that are not there are of no use, but do no harm.
    const samples = readBytesIfThere(samplesOf(draft));
    if (samples) {
      const path = contained(into, relative(into, samplesOf(target)));
      replaceFile(path, samples);
    }
    replaceFile(target, readBytesIfThere(draft)!);
  }
  for (const [folder, content] of devices) {
    if (content !== undefined) writeDeviceFile(into, folder, content);
  }
  print?.(`recorded in ${into}: commit it to keep it`);
  return targets;
}

/** The CSVs of a source, and their paths below it. */
async function placesIn(
  { from, only }: Source,
): Promise<readonly (Part & { readonly place: string })[]> {
  const files = only?.files ?? await csvFiles([from]);
  return files.map((file) => {
    const place = relative(from, file);
    const outside = place.startsWith("..") || isAbsolute(place);
    // A pattern is no folder, so its files are outside of it.
    if (outside || place === "" || dirname(place) === ".") {
      throw new UserError(
        `Cannot import ${file}: it is in no folder of a device below ${from}; give the folder ${
          isOfDevice(file)
            ? `above, \`import ${quoted(join(file, "..", ".."))}\``
            : "that `bench --out` was given"
        }`,
      );
    }
    return { file, place, runs: only?.runs };
  });
}

/** What all of `sources` measured of the device of `folder`; nothing where none did. */
function deviceIn(sources: readonly Source[], folder: string) {
  const files = sources.flatMap(({ from }) =>
    readDeviceFile(join(from, folder), WAY_OUT) ?? []
  );
  const peak = Object.assign({}, ...files.map((f) => f.calibration.peak));
  return files.slice(-1).map((last) => ({
    ...last,
    calibration: { ...last.calibration, peak },
  }))[0];
}

/** Makes at `draft` what is to stand at `target`: the rows of `parts` over those there. */
async function stage(
  { parts, target, draft }: Pick<Staged, "parts" | "target" | "draft">,
  { replaces = false }: Pick<Recording, "replaces">,
): Promise<Staged> {
  const old = readCsvIfThere(target, WAY_OUT);
  const timed = new Set(
    (old ?? []).filter(({ status }) => status === "ok" && !replaces)
      .map(keyText),
  );
  // Of many shards the rows are more than memory: only their lines are kept.
  const rows = new Map<string, string>();
  for (const row of old ?? []) rows.set(keyText(row), lineOf(row));
  const before = await readSamples(samplesOf(target), old ?? []);
  let [fresh, left] = [0, 0];
  let hasSamples = before.size > 0;
  /** Takes in the rows of each part, and yields the lines of its samples, then those that stay. */
  async function* samples(): AsyncGenerator<string> {
    for (const [file, all] of rowsIn(parts)) {
      refuseStrays(all, file);
      refuseOthers(old ?? [], all, target);
      const own = all.map(({ row }) => row)
        .filter((row) => !isFailure(row) || !timed.has(keyText(row)));
      const found = await readSamples(samplesOf(file), own);
      for (const row of own) {
        const key = keyText(row);
        rows.set(key, lineOf(row));
        before.delete(key);
        for (const line of linesIn(found.get(key))) {
          hasSamples = true;
          yield line;
        }
      }
      fresh += own.length;
      left += all.length - own.length;
    }
    for (const key of rows.keys()) yield* linesIn(before.get(key));
  }
  Deno.mkdirSync(dirname(draft), { recursive: true });
  await writeSamples(samplesOf(draft), samples());
  if (!hasSamples) Deno.removeSync(samplesOf(draft));
  replaceFile(draft, writeCsv([]) + [...rows.values()].join(""));
  return {
    parts,
    target,
    draft,
    isNew: old === undefined,
    fresh,
    kept: rows.size - fresh,
    left,
  };
}

/** @throws {UserError} Where rows are of several devices, or of another suite than their file. */
function refuseStrays(rows: readonly SourcedRow[], file: string): void {
  const suite = basename(file).replace(/\.csv$/i, "");
  const first = rows[0]?.row.device ?? "";
  for (const { row, line } of rows) {
    const why = row.device !== first
      ? `device ${brief(row.device)}, and the first row of ${brief(first)}`
      : row.suite !== suite
      ? `suite ${brief(row.suite)}`
      : undefined;
    if (why === undefined) continue;
    throw new UserError(
      `Cannot import ${file}: line ${line} is of ${why}; give the folder that \`bench --out\` wrote`,
    );
  }
}

/** @throws {UserError} Where `old`, at `path`, or the device file beside them are of another device. */
function refuseOthers(
  old: readonly CsvRow[],
  [first]: readonly SourcedRow[],
  path: string,
): void {
  if (first === undefined) return;
  const { device } = first.row;
  for (const row of old) {
    refuseOtherDevice(row, { device, path, wayOut: ELSEWHERE });
  }
  readDeviceFile(dirname(path), ELSEWHERE, device);
}

/** The lines of samples of a case. A repeat without samples leaves a hole. */
function linesIn(repeats: readonly string[] = []): readonly string[] {
  return repeats.filter((line) => line !== undefined);
}

/** A row as it stands in a CSV, with its line feed. */
function lineOf(row: CsvRow): string {
  return writeTable([COLUMNS.map((column) => row[column])]);
}

/** Returns whether `file` is in the folder of the device of its rows. */
function isOfDevice(file: string): boolean {
  const [first] = streamRows(file);
  return first !== undefined &&
    basename(dirname(file)) === deviceFolder(first.row.device);
}

/** Yields the rows of each of `parts`. @throws {UserError} Where two have the same case. */
function* rowsIn(
  parts: readonly Part[],
): Generator<readonly [file: string, rows: readonly SourcedRow[]]> {
  const distinct = new DuplicateFinder("import only one of the two");
  for (const { file, runs } of parts) {
    const rows = streamRows(file).filter(({ row }) =>
      runs === undefined || runs.includes(row.run)
    );
    for (const one of rows) distinct.add(one);
    yield [file, rows];
  }
}

async function tellOf(
  { parts, target, isNew, fresh, kept, left }: Staged,
  { threshold, print }: Pick<Recording, "threshold"> & {
    print(line: string): void;
  },
): Promise<void> {
  print(
    `${target}: ${counted(fresh, "row")} measured, ${kept} kept as they were`,
  );
  if (isNew) return print("  new: there is nothing that it replaces");
  if (left > 0) {
    print(`  failed rows that replace no time: ${left}`);
  }
  const lines = await verdictsOn(
    target,
    [...rowsIn(parts)].flatMap(([, rows]) => rows),
    threshold,
  );
  for (const line of lines) print(`  ${line}`.trimEnd());
}

/** Prints how the rows of a run differ from those that they would replace, if there are any. */
export async function showVerdicts(
  { sources, into, print }: Pick<Recording, "sources" | "into"> & {
    print(line: string): void;
  },
): Promise<void> {
  const places = (await Promise.all(sources.map(placesIn))).flat();
  for (const one of places) {
    const target = contained(into, one.place);
    if (unlessMissing(() => Deno.statSync(target)) === undefined) continue;
    const rows = [...rowsIn([one])].flatMap(([, own]) => own);
    const known = measuredIn(streamRows(target), rows);
    if (known.length === 0) continue;
    const lines = await verdictsOn(target, known);
    print(`Against ${target}, which has ${known.length} of these cases:`);
    for (const line of lines) print(`  ${line}`.trimEnd());
  }
}

/**
 * Compares `next` with the rows of the same cases in the CSV at `target`, which stay the same.
 *
 * @param threshold Per cent; missing leaves it to `diff`.
 */
async function verdictsOn(
  target: string,
  next: readonly SourcedRow[],
  threshold?: number,
): Promise<readonly string[]> {
  const base = measuredIn(next, streamRows(target));
  const limits = { threshold, minUs: undefined, config: undefined };
  const found = await judgeRows(base, next, limits);
  return show(found, { format: "text", only: undefined, failOn: FAIL_ON });
}

function samplesOf(csv: string): string {
  return csv.replace(/\.csv$/i, ".samples.jsonl.gz");
}

/**
 * Looks at the folders of `drafts` as they are to be.
 *
 * @throws {UserError} Where a case of a draft is in another file too, or a file beside it cannot be
 * read: nothing that reads the folder could.
 */
function refuseClashes(
  drafts: readonly Pick<Staged, "target" | "draft">[],
): void {
  const targets = new Set(drafts.map(({ target }) => target));
  const folders = new Set([...targets].map(dirname));
  const beside = [...folders].flatMap(csvsOf)
    .filter((file) => !targets.has(file))
    .map((file) => ({ target: file, draft: file }));
  const distinct = new DuplicateFinder(
    "give a folder with one file for each suite, as `bench --out` makes it",
  );
  for (const { target, draft } of [...beside, ...drafts]) {
    for (const one of streamRows(draft, { lean: true })) {
      distinct.add({ ...one, file: target });
    }
  }
}

/** The CSVs of a folder; none where there is no folder yet. */
function csvsOf(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)]
      .filter(({ name, isFile }) => isFile && name.endsWith(".csv"))
      .map(({ name }) => join(folder, name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

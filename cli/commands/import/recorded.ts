/**
 * `mnkbench import` of our own rows: they become recorded results, after a look at what changes.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { writeCsv } from "../../../bench/row/csv.ts";
import {
  Distinct,
  readCsvIfThere,
  type SourcedRow,
  streamRows,
} from "../../../bench/row/read_csv.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { readBytesIfThere, unlessMissing } from "../../../bench/files/disk.ts";
import { counted } from "../../../bench/files/terminal_text.ts";
import { lockFolders, makeTemporary } from "../../../bench/files/lock.ts";
import { contained, replaceFile } from "../../../bench/files/replace.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { keyText } from "../../../bench/row/row.ts";
import {
  deviceFolder,
  readDeviceFile,
  writeDeviceFile,
} from "../../../bench/row/results.ts";
import { readSamples, writeSamples } from "../../../bench/row/samples.ts";
import { FAIL_ON, judgeRows, measuredIn } from "../diff/compare.ts";
import { show } from "../diff.ts";
import { tell } from "../../terminal/output.ts";
import { quoted } from "../../../session/home.ts";
import { csvFiles } from "../../../session/read_rows.ts";
import { isFailure } from "../../../session/run_job.ts";

/** A CSV as it will stand, kept aside until all are shown. */
interface Staged {
  readonly file: string;
  readonly run: string | undefined;
  readonly target: string;
  readonly draft: string;
  readonly isNew: boolean;
  readonly fresh: number;
  readonly kept: number;
  /** Failed rows that do not replace one that is ok. */
  readonly left: number;
}

/** The folders of an import, and how it is shown. */
export interface Recording {
  /** A folder, as `bench --out` makes it. */
  readonly from: string;
  readonly into: string;
  /** Per cent; missing leaves it to `diff`. */
  readonly threshold?: number | undefined;
  /** Write nothing. @default {false} */
  readonly dryRun?: boolean;
  /** Takes each line. */
  print(line: string): void;
  /** Only these CSVs of `from`, and of them the rows of one run. @default {all} */
  readonly only?: RunRows;
}

/** The rows of a run in the CSVs that it wrote. */
export interface RunRows {
  readonly files: readonly string[];
  readonly run: string;
}

/** Prints what changes, then writes it. @returns The exit code. */
export async function importRecorded(options: Recording): Promise<number> {
  const { from, into, only } = options;
  const files = only?.files ?? await csvFiles([from]);
  const places = files.map((file) => {
    const place = relative(from, file);
    const outside = place.startsWith("..") || isAbsolute(place);
    // A pattern is no folder, so its files are outside of it.
    if (outside || place === "" || dirname(place) === ".") {
      throw new UserError(
        `Cannot import ${file}: it is in no folder of a device below ${options.from}; give the folder ${
          isOfDevice(file)
            ? `above, \`import ${quoted(join(file, "..", ".."))}\``
            : "that `bench --out` was given"
        }`,
      );
    }
    return { file, place };
  });
  using temporary = makeTemporary("mnkbench-import-");
  const folders = [...new Set(places.map(({ place }) => dirname(place)))];
  // Nobody else may write between reading what is there and replacing it.
  using _lock = options.dryRun
    ? undefined
    : await lockFolders(folders.map((folder) => contained(into, folder)), {
      note: tell,
    });
  const staged: Staged[] = [];
  for (const { file, place } of places) {
    const draft = join(temporary.path, place);
    const target = contained(into, place);
    staged.push(await stage({ file, target, draft, run: only?.run }));
  }
  refuseClashes(staged);
  const devices = folders.map((folder) =>
    [
      folder,
      readDeviceFile(join(from, folder), "mend it or move it away"),
    ] as const
  );
  for (const one of staged) await tellOf(one, options);
  if (options.dryRun) {
    options.print("nothing was written");
    return EXIT.ok;
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
  options.print(`recorded in ${into}: commit it to keep it`);
  return EXIT.ok;
}

/** Makes at `draft` what is to stand at `target`: the rows of `file` over those there. */
async function stage(
  { file, target, draft, run }: {
    readonly file: string;
    readonly target: string;
    readonly draft: string;
    readonly run: string | undefined;
  },
): Promise<Staged> {
  const old = readCsvIfThere(target);
  // The stricter reader: what is recorded will be compared with.
  const all = rowsIn(file, run).map(({ row }) => row);
  const timed = new Set(
    (old ?? []).filter(({ status }) => status === "ok").map(keyText),
  );
  const fresh = all.filter((row) =>
    !isFailure(row) || !timed.has(keyText(row))
  );
  const merged = new Map<string, CsvRow>();
  for (const row of [...old ?? [], ...fresh]) merged.set(keyText(row), row);
  Deno.mkdirSync(dirname(draft), { recursive: true });
  replaceFile(draft, writeCsv(merged.values()));
  const measured = new Set(fresh.map(keyText));
  const [before, after] = [
    await readSamples(samplesOf(target), old ?? []),
    await readSamples(samplesOf(file), fresh),
  ];
  const lines = [...merged.keys()].flatMap((key) => {
    const repeats = (measured.has(key) ? after : before).get(key) ?? [];
    // A repeat without samples leaves a hole.
    return repeats.filter((line) => line !== undefined);
  });
  if (before.size + after.size > 0) {
    await writeSamples(samplesOf(draft), lines);
  }
  return {
    ...{ file, run, target, draft },
    isNew: old === undefined,
    fresh: fresh.length,
    kept: merged.size - fresh.length,
    left: all.length - fresh.length,
  };
}

/** Returns whether `file` is in the folder of the device of its rows. */
function isOfDevice(file: string): boolean {
  const [first] = streamRows(file);
  return first !== undefined &&
    basename(dirname(file)) === deviceFolder(first.row.device);
}

/** Returns the rows of `file`: all, or those of one run. */
function rowsIn(file: string, run?: string): readonly SourcedRow[] {
  const all = streamRows(file);
  return run === undefined ? all : all.filter(({ row }) => row.run === run);
}

async function tellOf(
  { file, run, target, isNew, fresh, kept, left }: Staged,
  { threshold, print }: Recording,
): Promise<void> {
  print(
    `${target}: ${counted(fresh, "row")} measured, ${kept} kept as they were`,
  );
  if (isNew) return print("  new: there is nothing that it replaces");
  if (left > 0) {
    print(`  failed rows that replace no time: ${left}`);
  }
  const lines = await verdictsOn(target, rowsIn(file, run), threshold);
  for (const line of lines) print(`  ${line}`.trimEnd());
}

/** Prints how the rows of a run differ from those that they would replace, if there are any. */
export async function showVerdicts(
  { from, into, only, print }: Required<
    Pick<Recording, "from" | "into" | "only" | "print">
  >,
): Promise<void> {
  for (const file of only.files) {
    const target = contained(into, relative(from, file));
    if (unlessMissing(() => Deno.statSync(target)) === undefined) continue;
    const rows = rowsIn(file, only.run);
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
  const distinct = new Distinct(
    "give a folder with one file for each suite, as `bench --out` makes it",
  );
  for (const { target, draft } of [...beside, ...drafts]) {
    for (const one of streamRows(draft)) {
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

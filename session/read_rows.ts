/**
 * Reads rows of results from files, folders and globs.
 *
 * @module
 */

import { readIfThere, saidBy } from "../bench/files/disk.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import {
  DuplicateFinder,
  type ReadOptions,
  type SourcedRow,
  streamRows,
} from "../bench/row/read_csv.ts";
import { keyText } from "../bench/row/row.ts";
import { parseSamples, readSamples } from "../bench/row/samples.ts";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import type { Evidence } from "../report/diff/interval.ts";
import { type Effects, parseEffects } from "../report/diff/mde.ts";
import { RESULTS } from "./home.ts";

export type { SourcedRow } from "../bench/row/read_csv.ts";

/**
 * Reads the rows of every CSV in `paths`: files, folders (their own CSVs and those of the
 * folders in them, but neither published figures nor exhaustive searches unless named) and
 * globs of either. A file that several of them name is read once.
 *
 * @param options `lean`: a tenth of the memory, but values can only be read by name, and
 * figures that no comparison reads are left out. `like`: the rows that these are compared with, to share
 * memory.
 * @throws {UserError} In one line with file, line and column, for a path that leads to no
 * CSV, for anything in a CSV that is not a row of this schema, and for a case on a device
 * that is there twice. Each published run has cases of its own.
 */
export async function readRows(
  paths: readonly string[],
  options: Pick<ReadOptions, "lean" | "like"> = {},
): Promise<readonly SourcedRow[]> {
  const all: (readonly SourcedRow[])[] = [];
  const distinct = new DuplicateFinder();
  let count = 0;
  for (const file of await csvFiles(paths)) {
    const info = statIfThere(file);
    if (info === undefined) {
      throw new UserError(
        `Cannot read ${file}: it is a link to nothing; fix it or remove it`,
      );
    }
    const like = options.like?.slice(count) ?? [];
    const own = streamRows(
      asFile(file, info),
      { ...options, like },
      distinct,
    );
    count += own.length;
    all.push(own);
  }
  return all.length === 1 ? all[0]! : all.flat();
}

/**
 * The CSVs that `paths` lead to, each once; those of a folder or glob in order of name.
 *
 * @throws {UserError} For a path that leads to none.
 */
export async function csvFiles(
  paths: readonly string[],
): Promise<readonly string[]> {
  const files = new Set<string>();
  for (const path of paths) {
    const info = statIfThere(path);
    const found = info === undefined
      ? await matches(path)
      : info.isDirectory
      ? below(path)
      : [asFile(path, info)];
    for (const file of found) files.add(file);
  }
  return [...files];
}

function statIfThere(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw unreadable(path, cause);
  }
}

/** @throws {UserError} For a device or a pipe, which may never end. */
function asFile(path: string, { isFile }: Deno.FileInfo): string {
  if (isFile) return path;
  throw new UserError(
    `Cannot read ${path}: it is not a regular file; name a CSV of results`,
  );
}

async function matches(pattern: string): Promise<readonly string[]> {
  const found: string[] = [];
  if (/[*?[{]/.test(pattern)) {
    for await (const path of glob(pattern)) {
      const stat = statIfThere(path);
      // What a shell would have made of it, but that a folder without results is no mistake.
      if (stat?.isDirectory) found.push(...within(path));
      else if (stat?.isFile && /\.csv$/i.test(path)) found.push(path);
    }
  }
  if (found.length > 0) return found.toSorted();
  throw new UserError(
    `Cannot read ${pattern}: there is no such file, folder or match; ${
      statIfThere(RESULTS)?.isDirectory
        ? `recorded rows are in ${RESULTS}`
        : "see what is there with `ls`"
    }`,
  );
}

/** Folders of what is no run of ours, and files in which a case has many rows. */
const OTHER = /^(published|search|node_modules|\..*)$|(^|\.)search\.csv$/;

function below(folder: string): readonly string[] {
  const found = within(folder);
  if (found.length > 0) return found;
  throw new UserError(
    `Cannot read ${folder}: no CSV of results is in it or in its folders; make one with \`bench --out ${folder}\`, or name a folder further down`,
    EXIT.nothing,
  );
}

/**
 * The results of `folder` and of the folders in it, which is how `bench --out` writes them:
 * further down lie other runs of the same cases, which would stand in one table twice.
 */
function within(folder: string, depth = 1): readonly string[] {
  return entriesOf(folder).flatMap(({ name, isDirectory }) => {
    if (OTHER.test(name)) return [];
    const inner = join(folder, name);
    if (isDirectory) return depth > 0 ? within(inner, depth - 1) : [];
    return /\.csv$/i.test(name) ? [inner] : [];
  });
}

function entriesOf(folder: string): readonly Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)].toSorted((a, b) =>
      a.name < b.name ? -1 : 1
    );
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

function unreadable(path: string, cause: unknown): UserError {
  return new UserError(
    `Cannot read ${path}: ${saidBy(cause)}; make it readable or name another`,
  );
}

/** The path of what is named `kind` beside the CSV at `file`. */
function besides(file: string, kind: string): string {
  return `${file.replace(/\.csv$/i, "")}.${kind}`;
}

/** The effects beside the CSV at `file`. @throws {UserError} For other content. */
export function effectsBeside(file: string): Effects | undefined {
  const path = besides(file, "mde.json");
  const text = readIfThere(path);
  return text === undefined ? undefined : parseEffects(text, path);
}

/**
 * Checks that rows were made of the samples beside their CSVs.
 *
 * @throws {UserError} Where one was not, and for a file of samples that cannot be read.
 */
export async function checkSamples(
  rows: Iterable<SourcedRow>,
): Promise<void> {
  for (const [file, own] of Map.groupBy(rows, (one) => one.file)) {
    await linesBeside(file, own);
  }
}

/** The lines of samples beside `file` by key text. @throws {UserError} Where they are of other rows. */
function linesBeside(
  file: string,
  rows: readonly SourcedRow[],
): Promise<Map<string, string[]>> {
  const path = besides(file, "samples.jsonl.gz");
  return readSamples(path, rows.map(({ row }) => row));
}

/**
 * The samples of `rows`, from the files beside their CSVs; those of another run than the
 * row's are not its own and are left out.
 *
 * @throws {UserError} For a file of samples that cannot be read.
 */
export async function evidenceOf(
  rows: Iterable<SourcedRow>,
): Promise<ReadonlyMap<SourcedRow, Evidence>> {
  const found = new Map<SourcedRow, Evidence>();
  for (const [file, own] of Map.groupBy(rows, (one) => one.file)) {
    const lines = await linesBeside(file, own);
    for (const one of own) {
      const repeats = (lines.get(keyText(one.row)) ?? [])
        .filter((line) => line !== undefined)
        .map(parseSamples)
        .filter(({ run }) => run === one.row.run)
        .map(({ samples_ns }) => samples_ns);
      found.set(one, { row: one.row, repeats });
    }
  }
  return found;
}

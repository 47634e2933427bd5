/**
 * Reads the rows that `table` shows.
 *
 * @module
 */

import { join } from "node:path";
import { unlessMissing } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { isPublished } from "../../../bench/row/row.ts";
import { soundTimeOf } from "../../../report/model/sol.ts";
import { ofOneTiming, timingOf } from "../../../report/model/timing.ts";
import { HOME, RESULTS, typed } from "../../../session/home.ts";
import {
  checkSamples,
  csvFiles,
  readRows,
  type SourcedRow,
} from "../../../session/read_rows.ts";
import {
  baselinesOf,
  type OwnBaselines,
} from "../../../session/library/baselines.ts";
import { namedSuites } from "../../../session/library/suite_text.ts";
import {
  isAt,
  noRow,
  refuseAxes,
  refuseUnknown,
} from "../../options/named_rows.ts";
import { usualPaths } from "../../options/usual_paths.ts";
import { logLine, logWrapped } from "../../terminal/output.ts";

// Relative to the program's folder, which is not where its task was typed.
const PUBLISHED = "results/published";

/** The selection of rows. Empty lists stand for all. */
export interface RowChoice {
  /** Files, folders and globs; empty for the usual folder. */
  readonly paths: readonly string[];
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  readonly against: readonly string[];
  readonly wins: boolean;
  readonly published: boolean;
  /** Restricts published rows to these runs. */
  readonly publishedRuns: readonly string[];
  /** Rows of one timing for each suite and device. */
  readonly timer: string | undefined;
  readonly cache: string | undefined;
  /** Words of one row: rows of every timing are read. */
  readonly row: string | undefined;
  readonly metrics: readonly string[];
  /** A captured program: rows of every timing are read. */
  readonly weights: string | undefined;
  /** Rows with one of these values of each axis. */
  readonly point: Readonly<Record<string, readonly string[]>>;
}

/** Rows, and the names of the sets that they are from where these have rows of the same cases. */
export interface Chosen {
  /** Of several sets, each with `@` and its set behind its kernel. */
  readonly rows: readonly CsvRow[];
  /** Empty for one set. */
  readonly sides: readonly string[];
  /** The baselines of suites whose files were named. */
  readonly own: OwnBaselines;
}

/**
 * Reads the rows of the files, suites, runs and kernels that `options` name, and those of the
 * baseline and of the kernels that wins are counted against.
 *
 * @throws {UserError} For a file that cannot be read, a case that is there twice, an unknown
 * name, and where no row is left.
 */
export async function tableRows(
  options: RowChoice,
): Promise<Chosen> {
  const { published, baseline, against } = options;
  const paths = usualPaths(options.paths);
  const sets = await setsOf(paths, published ? [join(HOME, PUBLISHED)] : []);
  const all = sets.flatMap(({ rows }) => rows);
  if (all.length === 0) {
    throw new UserError(
      `No row is in ${paths.join(", ")}: measure some with \`${
        typed("bench")
      }\``,
      EXIT.nothing,
    );
  }
  const known = new Set(all.map(({ suite }) => suite));
  const { suites, own } = namedSuites(options.suites, known, logLine);
  const named = [
    ...options.kernels,
    ...(baseline === undefined ? [] : [baseline]),
    ...against,
  ];
  if (options.paths.length === 0) demandHere(suites, known, paths);
  demandKnown(all, { ...options, suites, kernels: named });
  const isBaseline = needsBaseline(options)
    ? baselineFinder(all, {
      own,
      // Of a program's GEMMs each suite's own baseline is needed, whatever is chosen.
      kernels: options.weights === undefined ? options.kernels : [],
    })
    : () => false;
  const isNamed = ({ suite }: CsvRow) =>
    suites.length === 0 || suites.includes(suite);
  // Published rows join measured ones by their points, whatever their suite is called.
  const joins = published &&
    all.some((row) => isNamed(row) && !isPublished(row));
  const runs = options.publishedRuns;
  const ofNames = all.filter((row) =>
    (runs.length === 0 || !isPublished(row) || runs.includes(row.run)) &&
    (isNamed(row) || (joins && isPublished(row))) &&
    (options.kernels.length === 0 || isBaseline(row) ||
      namesOf(row).some((name) => named.includes(name)))
  );
  const { point } = options;
  const rows = ofNames.filter((row) => isAt(row, point));
  if (rows.length === 0) throw noRow(ofNames, { ...options, suites });
  if (sets.length > 1) {
    return { ...besideOne(sets, new Set(rows), options), own };
  }
  const { timer, cache, row, weights } = options;
  const isOfAnyTiming = weights !== undefined ||
    row !== undefined && timer === undefined && cache === undefined;
  const shown = isOfAnyTiming ? rows : ofTiming(rows, options);
  return { rows: shown, sides: [], own };
}

/** @throws {UserError} For one of `suites` that is recorded, and not in `paths`, the usual ones. */
function demandHere(
  suites: readonly string[],
  known: ReadonlySet<string>,
  paths: readonly string[],
): void {
  const elsewhere = suites.find((name) => !known.has(name) && isRecorded(name));
  if (elsewhere === undefined) return;
  throw new UserError(
    `No suite in the rows of ${
      paths.join(", ")
    } is named ${elsewhere}: recorded rows are, \`${
      typed(`table ${RESULTS} --suite ${elsewhere}`)
    }\``,
  );
}

/** @throws {UserError} For a name that no row of `all` has. */
function demandKnown(
  all: readonly CsvRow[],
  { suites, kernels, publishedRuns, point }: Pick<
    RowChoice,
    "suites" | "kernels" | "publishedRuns" | "point"
  >,
): void {
  refuseUnknown("suite", suites, all.map(({ suite }) => suite));
  refuseUnknown("kernel", kernels, all.flatMap(namesOf));
  refuseUnknown(
    "published run",
    publishedRuns,
    all.filter(isPublished).map(({ run }) => run),
  );
  refuseAxes(all, point);
}

/** Returns whether a device's folder in the recorded results has a file of `suite`. */
function isRecorded(suite: string): boolean {
  const folders = unlessMissing(() => [...Deno.readDirSync(RESULTS)]) ?? [];
  return folders.some(({ name, isDirectory }) =>
    isDirectory &&
    unlessMissing(() => Deno.statSync(join(RESULTS, name, `${suite}.csv`))) !==
      undefined
  );
}

/** Rows of one path of several. */
interface RowSet {
  readonly name: string;
  readonly rows: readonly CsvRow[];
}

/** Returns a set for each path where several have a row of the same case, else one of all. */
async function setsOf(
  paths: readonly string[],
  more: readonly string[],
): Promise<readonly RowSet[]> {
  const seen = new Set<string>();
  const sets: { path: string; found: readonly SourcedRow[] }[] = [];
  for (const path of [...paths, ...more]) {
    const files = (await csvFiles([path])).filter((file) => {
      const real = Deno.realPathSync(file);
      return !seen.has(real) && seen.add(real);
    });
    if (files.length === 0) continue;
    const found = await readRows(files);
    await checkSamples(found);
    sets.push({ path, found });
  }
  const all = sets.flatMap(({ found }) =>
    found.map(({ row, identity }) =>
      isPublished(row) ? `${identity}${row.run}` : `${identity}`
    )
  );
  if (new Set(all).size === all.length) {
    return [{
      name: "",
      rows: sets.flatMap(({ found }) => found.map(({ row }) => row)),
    }];
  }
  const names = namesOfPaths(sets.map(({ path }) => path));
  return sets.map(({ found }, i) => ({
    name: names[i]!,
    rows: found.map(({ row }) => row),
  }));
}

/**
 * Returns a name for each of `paths`: the last of its folders in which they differ.
 *
 * @example
 * ```ts
 * import { namesOfPaths } from "./rows.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(namesOfPaths(["results/gpu", "new/gpu"]), ["results", "new"]);
 * deepStrictEqual(namesOfPaths(["results/gpu", "/tmp/new"]), ["gpu", "new"]);
 * deepStrictEqual(namesOfPaths(["a", "a/a"]), ["a", "a/a"]);
 * ```
 */
export function namesOfPaths(paths: readonly string[]): readonly string[] {
  const parts = paths.map((path) => path.split("/").filter(Boolean));
  const most = Math.max(...parts.map(({ length }) => length));
  for (let at = -1; at >= -most; at--) {
    const names = parts.flatMap((own) => own.at(at) ?? []);
    if (names.length < paths.length) return paths;
    const different = new Set(names).size;
    if (different > 1) return different === names.length ? names : paths;
  }
  return paths;
}

/**
 * Returns the rows of several sets that are among `wanted`, those of the last set and those of
 * the others that were timed as these.
 *
 * @throws {UserError} For options of one set.
 */
function besideOne(
  sets: readonly RowSet[],
  wanted: ReadonlySet<CsvRow>,
  options: RowChoice,
): Omit<Chosen, "own"> {
  if (options.weights !== undefined) {
    throw new UserError(
      `Cannot weigh a program where ${
        sets.map(({ name }) => name).join(" and ")
      } have the same cases: name one of them`,
    );
  }
  if (options.published || options.wins || options.against.length > 0) {
    throw new UserError(
      `Cannot count wins or add published rows where ${
        sets.map(({ name }) => name).join(" and ")
      } have the same cases: name one of them, or leave out --against, --wins and --published`,
    );
  }
  const chosen = sets.map((set) => set.rows.filter((row) => wanted.has(row)));
  const last = ofTiming(chosen.at(-1)!, options);
  const wayOf = ({ suite, device, timer, cache }: CsvRow) =>
    JSON.stringify([suite, device, timer, cache]);
  const ways = new Set(last.map(wayOf));
  const rows = sets.flatMap(({ name }, i) =>
    (i === sets.length - 1
      ? last
      : chosen[i]!.filter((row) => ways.has(wayOf(row))))
      .map((row): CsvRow => ({ ...row, kernel: `${row.kernel}@${name}` }))
  );
  return { rows, sides: sets.map(({ name }) => name) };
}

/** Returns those of `rows` that one timer timed, and tells which kernels that were named have none. */
function ofTiming(rows: readonly CsvRow[], options: RowChoice) {
  const { timer, cache } = options;
  const how = { timer, cache, note: logWrapped };
  const shown = ofOneTiming(rows, (row) => row, how);
  const known = new Set(shown.flatMap(namesOf));
  for (const kernel of options.kernels.filter((name) => !known.has(name))) {
    const own = rows.filter((row) => namesOf(row).includes(kernel));
    if (own.length === 0) continue;
    const timings = [...new Set(own.map(timingOf))].join("; ");
    logLine(`${kernel} is not shown: its rows are by ${timings}`);
  }
  return shown;
}

/** Returns whether figures are relative to a baseline that no option names. */
function needsBaseline(
  { baseline, metrics, weights, wins, against }: RowChoice,
): boolean {
  return baseline === undefined &&
    (weights !== undefined || metrics.includes("speedup") ||
      wins && against.length === 0);
}

/**
 * Returns what tells whether a row is of its suite's baseline: the preferred one with a time, of
 * `kernels` where one of these has any.
 */
function baselineFinder(
  rows: readonly CsvRow[],
  { own, kernels }: {
    readonly own: OwnBaselines;
    readonly kernels: readonly string[];
  },
): (row: CsvRow) => boolean {
  const found = new Map(
    [...Map.groupBy(rows, ({ suite }) => suite)].map(([suite, of]) => {
      const timed = new Set(
        of.filter((row) => soundTimeOf(row) !== undefined)
          .map(({ kernel }) => kernel),
      );
      const names = baselinesOf(suite, { own }).filter((one) => timed.has(one));
      return [suite, names.find((one) => kernels.includes(one)) ?? names[0]];
    }),
  );
  return ({ suite, kernel }) => found.get(suite) === kernel;
}

/** Returns the names of a row's kernel: with its run too where it is published. */
function namesOf(row: CsvRow): string[] {
  const { kernel, run } = row;
  return isPublished(row) ? [kernel, `${kernel}@${run}`] : [kernel];
}

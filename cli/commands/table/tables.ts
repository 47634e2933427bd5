/**
 * Reads the rows that `table` shows, and prints them as tables.
 *
 * @module
 */

import { join } from "node:path";
import { findSimilar } from "@optique/core/suggestion";
import { readIfThere } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { isPublished } from "../../../bench/row/row.ts";
import {
  contenderNamed,
  type Pivot,
  pivots,
} from "../../../report/model/pivot.ts";
import {
  pivotsCsv,
  pivotsJson,
  winsCsv,
} from "../../../report/table/pivot_data.ts";
import { type MetricName, METRICS } from "../../../report/table/metrics.ts";
import {
  formatMarkdown,
  formatText,
  type GridOptions,
  type Sheet,
} from "../../../report/table/sheet.ts";
import {
  type Shown,
  tableSheet,
  winsSheets,
} from "../../../report/table/table.ts";
import { formatWide } from "../../../report/table/wide.ts";
import { isFile, isSource } from "../../../session/cases.ts";
import { HOME } from "../../../session/home.ts";
import { readRows } from "../../../session/read_rows.ts";
import { pointOf } from "../../../report/model/axes.ts";
import { ofOneTiming, othersLine } from "../../../report/model/timing.ts";
import { builtInSuites } from "../../../suites/mod.ts";
import { usualPaths } from "../../options/usual_paths.ts";
import { tell } from "../../terminal/output.ts";

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
  readonly published: boolean;
  /** Restricts published rows to these runs. */
  readonly publishedRuns: readonly string[];
  /** Rows of one timing for each suite and device. */
  readonly timer: string | undefined;
  readonly cache: string | undefined;
  readonly metrics: readonly string[];
  readonly gemmFraction: number | undefined;
  /** Rows with one of these values of each axis. */
  readonly point: Readonly<Record<string, readonly string[]>>;
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
): Promise<readonly CsvRow[]> {
  const { published, baseline, against } = options;
  const paths = usualPaths(options.paths);
  const found = await readRows([
    ...paths,
    ...(published ? [join(HOME, PUBLISHED)] : []),
  ]);
  const all = found.map(({ row }) => row);
  if (all.length === 0) {
    throw new UserError(
      `No row is in ${paths.join(", ")}: measure some with \`mnkbench bench\``,
      EXIT.nothing,
    );
  }
  const others = [...(baseline === undefined ? [] : [baseline]), ...against];
  const known = new Set(all.map(({ suite }) => suite));
  const suites = options.suites.flatMap((name) =>
    isFile(name) && !isSource(name) ? suitesOf(name, known) : [name]
  );
  refuseUnknown("suite", suites, [...known]);
  refuseUnknown(
    "kernel",
    [...options.kernels, ...others],
    all.flatMap(namesOf),
  );
  const runs = options.publishedRuns;
  refuseUnknown(
    "published run",
    runs,
    all.filter(isPublished).map(({ run }) => run),
  );
  const kernels = new Set([...options.kernels, ...others]);
  const points = Object.entries(options.point);
  const isBaseline = needsBaseline(options) ? baselineFinder(all) : () => false;
  refuseUnknown(
    "axis",
    points.map(([axis]) => axis),
    all.flatMap((row) => Object.keys(pointOf(row))),
  );
  const isNamed = ({ suite }: CsvRow) =>
    suites.length === 0 || suites.includes(suite);
  // Published rows join measured ones by their points, whatever their suite is called.
  const joins = published &&
    all.some((row) => isNamed(row) && !isPublished(row));
  const rows = all.filter((row) =>
    (runs.length === 0 || !isPublished(row) || runs.includes(row.run)) &&
    (isNamed(row) || (joins && isPublished(row))) &&
    (options.kernels.length === 0 || isBaseline(row) ||
      namesOf(row).some((name) => kernels.has(name))) &&
    points.every(([axis, values]) => values.includes(pointOf(row)[axis] ?? ""))
  );
  if (rows.length > 0) {
    const { rows: shown, others } = ofOneTiming(rows, options);
    if (others !== "") tell(othersLine(others));
    return shown;
  }
  throw new UserError(
    `No row of kernel ${options.kernels.join(", ") || "any"} is of suite ${
      options.suites.join(", ") || "any"
    }${
      points.map(([axis, values]) => ` with ${axis} ${values.join(" or ")}`)
        .join("")
    }: leave out one of these options`,
    EXIT.nothing,
  );
}

/**
 * Returns those of the suites `known` that the suite file `file` names. Its text is searched: to
 * load it takes a process, which commands that only read may not start.
 */
function suitesOf(file: string, known: ReadonlySet<string>): string[] {
  const text = readIfThere(file);
  if (text === undefined) {
    throw new UserError(`Cannot read ${file}: there is no such file`);
  }
  const names = [...text.matchAll(/\bname:\s*(["'`])(.*?)\1/g)]
    .map(([, , name]) => name!);
  const own = names.filter((name) => known.has(name));
  if (own.length > 0) return own;
  throw new UserError(
    `No row is of a suite that ${file} names: give the suite's name, one of ${
      [...known].join(", ")
    }, or measure it with \`bench --suite ${file}\``,
    EXIT.nothing,
  );
}

/** Returns whether figures are relative to a baseline that no option names. */
function needsBaseline(
  { baseline, metrics, gemmFraction }: RowChoice,
): boolean {
  return baseline === undefined &&
    (gemmFraction !== undefined || metrics.includes("speedup"));
}

/** Returns what tells whether a row is of its suite's baseline: the preferred one with a time. */
function baselineFinder(rows: readonly CsvRow[]): (row: CsvRow) => boolean {
  const found = new Map(
    [...Map.groupBy(rows, ({ suite }) => suite)].map(([suite, own]) => {
      const timed = new Set(
        own.filter(({ status }) => status === "ok").map(({ kernel }) => kernel),
      );
      return [suite, baselinesOf(suite).find((name) => timed.has(name))];
    }),
  );
  return ({ suite, kernel }) => found.get(suite) === kernel;
}

/** Returns the names of a row's kernel: with its run too where it is published. */
function namesOf(row: CsvRow): string[] {
  const { kernel, run } = row;
  return isPublished(row) ? [kernel, `${kernel}@${run}`] : [kernel];
}

function refuseUnknown(
  what: string,
  names: readonly string[],
  known: readonly string[],
): void {
  const all = [...new Set(known)];
  const name = names.find((n) => !all.includes(n));
  if (name === undefined) return;
  if (all.length === 0) {
    throw new UserError(`No ${what} is in these rows: leave out ${name}`);
  }
  const near = findSimilar(name, all, { maxSuggestions: 2 });
  const hint = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `there are ${all.join(", ")}`;
  throw new UserError(`No ${what} in these rows is named ${name}: ${hint}`);
}

/** Baselines of published figures where a suite has none of its own. */
const EAGER = ["torch.mm+relu", "torch.mm"];
/** Baselines of suites of users, whose files are not loaded. */
export const USUAL_BASELINES: readonly string[] = [
  ...["cublas", "openblas", "naive"],
  ...EAGER,
];

/** The baselines and the format of tables. */
export interface Layout extends Pick<Shown, "top" | "lines" | "all"> {
  readonly baseline: string | undefined;
  readonly against: readonly string[];
  readonly wins: boolean;
  /** Figures to show instead of times; empty for these. */
  readonly metrics: readonly string[];
  readonly gemmFraction: number | undefined;
  readonly format: "text" | "md" | "csv" | "json" | "decompose-k";
}

/** Arranges `rows` as tables. @throws {UserError} For a kernel that no table has. */
export function tablesOf(
  rows: readonly CsvRow[],
  { baseline, against }: Pick<Layout, "baseline" | "against">,
): Pivot[] {
  const tables = pivots(rows, {
    baselines: (suite) =>
      baseline === undefined ? baselinesOf(suite) : [baseline],
  });
  for (
    const name of baseline === undefined ? against : [baseline, ...against]
  ) {
    if (tables.some((table) => contenderNamed(table, name))) continue;
    const names = tables.flatMap(({ contenders }) =>
      contenders.filter(({ kernel }) => kernel === name).map((c) => c.name)
    );
    throw new UserError(
      names.length === 0
        ? `No table has kernel ${name}, whose rows are at other shapes: name another`
        : `Several runs have a kernel ${name}: name one of ${
          [...new Set(names)].join(", ")
        }`,
    );
  }
  return tables;
}

const builtIn = await builtInSuites();

/** Returns the baselines of `suite`, the preferred first. */
export function baselinesOf(suite: string): readonly string[] {
  const own = builtIn.find(({ name }) => name === suite)?.baselines;
  return own === undefined ? USUAL_BASELINES : [...own, ...EAGER];
}

/** Returns the name of a kernel that wins could be counted against. */
function possible(tables: readonly Pivot[]): string | undefined {
  const usual = tables.flatMap(({ suite, contenders }) =>
    contenders.filter(({ kernel }) => baselinesOf(suite).includes(kernel))
  );
  return (usual[0] ?? tables[0]?.contenders[0])?.name;
}

/**
 * Formats `tables`.
 *
 * @throws {UserError} Where there is nothing to count, and for an unknown metric.
 */
export function formatTables(
  tables: readonly Pivot[],
  layout: Omit<Layout, "baseline">,
  screen: GridOptions,
): string {
  const { format, wins, against, gemmFraction } = layout;
  const metrics = metricNames(layout);
  const others = ({ baseline }: Pivot) =>
    against.length > 0 ? against : baseline === undefined ? [] : [baseline];
  if (format === "json") return pivotsJson(tables, others, { gemmFraction });
  if (format === "csv") {
    return (wins
      ? winsCsv(tables, others)
      : pivotsCsv(tables, { gemmFraction })).trimEnd();
  }
  const sheets = tables.flatMap((table): Sheet[] => [
    ...(wins ? [] : [tableSheet(table, { ...layout, metrics })]),
    ...(wins || (against.length > 0 && !metrics.includes("score"))
      ? winsSheets(table, others(table))
      : []),
  ]);
  if (sheets.length === 0) {
    throw new UserError(
      against.length === 0
        ? `No table has a baseline to count wins against: name a kernel, as with --against ${
          possible(tables)
        }`
        : `No shape has a time both of ${
          against.join(" or ")
        } and of another kernel, so there is nothing to count: name another with --against, or leave out --wins`,
    );
  }
  return sheets.flatMap((sheet, i) => [
    ...(i > 0 ? [""] : []),
    ...(format === "md" ? formatMarkdown(sheet) : formatText(sheet, screen)),
  ]).join("\n");
}

/** @throws {UserError} For an unknown figure, and where figures cannot be shown. */
function metricNames(
  { metrics, gemmFraction, format, wins }: Omit<Layout, "baseline">,
): readonly MetricName[] {
  if (metrics.length > 0 && (wins || (format !== "text" && format !== "md"))) {
    throw new UserError(
      "--metric is for --format text and md, without --wins: CSV and JSON have every figure",
    );
  }
  const known = metrics.map((name) => {
    const metric = METRICS.find((one) => one === name);
    if (metric !== undefined) return metric;
    throw new UserError(
      `No metric is named ${name}: there are ${METRICS.join(", ")}`,
    );
  });
  if (known.includes("end_to_end") && gemmFraction === undefined) {
    throw new UserError(
      "end_to_end needs the share of the run time that is in GEMMs: add --gemm-fraction, as in --gemm-fraction 0.85",
    );
  }
  return known.length > 0 || gemmFraction === undefined
    ? known
    : ["speedup", "end_to_end"];
}

/** Returns `rows`, of one suite, with the columns of the decompose-k measurements. */
export function wideText(rows: readonly CsvRow[]): string {
  const { csv, left } = formatWide(rows);
  const kernels = [...Map.groupBy(left, ({ kernel }) => kernel)];
  if (kernels.length > 0) {
    const list = kernels.map(([kernel, { length }]) => `${kernel} (${length})`);
    tell(`rows without a column or without a time: ${list.join(", ")}`);
  }
  return csv.trimEnd();
}

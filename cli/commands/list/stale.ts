/**
 * `mnkbench list --stale`: recorded rows whose kernels have changed since, and the figures of the
 * documents that rest on them.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";
import { aligned, counted } from "../../../bench/files/terminal_text.ts";
import { readIfThere, unlessMissing } from "../../../bench/files/disk.ts";
import { EXIT, type ExitCode, UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { isPublished } from "../../../bench/row/row.ts";
import { isAuto } from "../../../bench/tune/auto_kernel.ts";
import { isPackage, quoted, typed } from "../../../session/home.ts";
import { besideAuto, besidePeers, loadSuites } from "../../../session/cases.ts";
import { isPeerLibrary } from "../../../bench/model/peer.ts";
import { DEFAULTS } from "../../../bench/model/settings.ts";
import { readRows } from "../../../session/read_rows.ts";
import {
  type RowState,
  type Staleness,
  stalenessOf,
} from "../../../session/stale/stale.ts";
import { suiteNames } from "../../../suites/mod.ts";
import { recordedPaths } from "../../options/usual_paths.ts";
import { logLine, printLine } from "../../terminal/output.ts";

/** Rows of one kernel that are stale for the same reason. */
interface Group {
  readonly file: string;
  readonly kernel: string;
  readonly standing: Staleness;
  /** Rows that are stale, and all of this kernel in the file. */
  readonly rows: number;
  readonly of: number;
  /** Commits that the rows are of; for rows without one the days they were measured. */
  readonly since: readonly string[];
}

/** Lines of a document that name a file of results, or a picture of one. */
interface Mention {
  readonly file: string;
  readonly line: number;
  readonly results: readonly string[];
}

const REASONS: Readonly<Record<Staleness, string>> = {
  current: "",
  unknown: "",
  changed: "the code changed since",
  "changed-text": "a source or a comment in it changed since",
  gone: "no such suite, kernel, point or source is left since",
};

/**
 * Lists the stale rows of `paths`, recorded results by default.
 *
 * @returns The exit code: 1 where there are any.
 * @throws {UserError} Where no row that was measured here is selected.
 */
export async function listStale(
  { paths, suites: names, kernels, json }: {
    /** CSVs, folders or globs. */
    readonly paths: readonly string[];
    /** Only rows of these; all where there are none. */
    readonly suites: readonly string[];
    readonly kernels: readonly string[];
    readonly json: boolean;
  },
): Promise<ExitCode> {
  const all = await readRows(recordedPaths(paths));
  const own = await besideAuto(
    await loadSuites(names),
    all.map(({ row }) => row.kernel),
  );
  const suites = await besidePeers(own, "torch");
  const chosen = suites.map(({ name }) => name);
  const rows = all.filter(({ row: { suite, kernel } }) =>
    (names.length === 0 || chosen.includes(suite)) &&
    (kernels.length === 0 || kernels.includes(kernel))
  );
  const stood = await stalenessOf(rows, suites);
  if (stood.length === 0) {
    throw noRow(all.map(({ row }) => row).filter((row) => !isPublished(row)));
  }
  const groups = groupsOf(stood);
  const stale = groups.reduce((sum, group) => sum + group.rows, 0);
  const figures = mentions(new Set(groups.map(({ file }) => resultOf(file))));
  if (json) {
    printLine(JSON.stringify({ rows: groups, figures }, null, 2));
  } else for (const line of linesOf(groups, figures)) printLine(line);
  const unknown = stood.filter(({ standing }) => standing === "unknown").length;
  logLine(standingLine(stale, stood.length - unknown, unknown));
  if (stale === 0) return EXIT.ok;
  for (const line of nextLines(stood.filter(isStale), chosen, paths)) {
    logLine(line);
  }
  return EXIT.failed;
}

/** Returns the error of a selection that none of `rows` is in. */
function noRow(rows: readonly CsvRow[]): UserError {
  const named = (column: "suite" | "kernel") =>
    [...new Set(rows.map((row) => row[column]))].join(", ");
  return new UserError(
    rows.length === 0
      ? `No row is there that was measured here: measure some with \`${
        typed("bench")
      }\``
      : `No row has the suites and kernels that were named: there are suites ${
        named("suite")
      } and kernels ${named("kernel")}`,
    EXIT.nothing,
  );
}

/** Counts the rows that are stale `of` those with sources, and the `unknown` without. */
export function standingLine(
  stale: number,
  of: number,
  unknown: number,
): string {
  const verb = stale === 1 || of === 1 ? "is" : "are";
  return `${stale} of ${counted(of, "row")} with sources ${verb} stale; ${
    counted(
      unknown,
      "other row has no sources and is",
      "other rows have no sources and are",
    )
  } not checked`;
}

/**
 * Names the commands that measure `stale` again: one for each device and timing. In a clone the
 * first is the one that finds out whether that is needed.
 *
 * @param known The suites that were looked up; rows of others may be of a user's file. @default {the built-in ones}
 */
export function nextLines(
  stale: readonly RowState[],
  known: readonly string[] = suiteNames,
  paths: readonly string[] = [],
): readonly string[] {
  const ours = stale.filter(({ row, standing }) =>
    suiteNames.includes(row.suite) && standing !== "gone"
  );
  const gone = stale.filter(({ standing }) => standing === "gone");
  const strange = [...new Set(gone.map(({ row }) => row.suite))]
    .filter((name) => !known.includes(name));
  const timings = Map.groupBy(
    ours,
    ({ row: { timer, cache, backend, device, kernel } }) =>
      JSON.stringify([
        ...[`--timer ${timer} --cache ${cache}`, backend, device],
        // No run has it unasked.
        isAuto(kernel) ? `--kernel ${kernel}` : "",
      ]),
  );
  const measured = [...timings].map(([key, own]) => {
    const [timing, backend, device, kernel]: string[] = JSON.parse(key);
    const suites = [...new Set(own.map(({ row }) => row.suite))];
    const usual = timing!.replace(` --cache ${DEFAULTS.cache}`, "")
      .replace(`--timer ${DEFAULTS.timer}`, "");
    const peers = own.some(({ row }) => isPeerLibrary(row.library))
      ? "--peers torch"
      : "";
    const words = [
      ...["bench --suite", suites.join(","), kernel!, `--backend ${backend}`],
      ...[usual, peers, "--record"],
    ].filter((word) => word !== "");
    return `Next, on ${device}: ${typed(words.join(" "))}`;
  });
  const files = [...new Set(gone.map(({ file }) => file))];
  const next = measured.length === 0 || isPackage() ? measured : [
    "Next, where only names or structure changed: deno task same-code",
    ...measured,
  ];
  return files.length === 0 ? next : [
    ...next,
    ...(strange.length === 0 ? [] : [
      `Next, if the suite ${strange.join(" or ")} is of a file of yours: ${
        typed(["list --stale", ...paths.map(quoted), "--suite FILE"].join(" "))
      }`,
    ]),
    `Next${strange.length === 0 ? "" : ", otherwise"}: remove the rows of ${
      files.join(", ")
    } that nothing measures again`,
  ];
}

function isStale({ standing }: RowState): boolean {
  return REASONS[standing] !== "";
}

function groupsOf(stood: readonly RowState[]): readonly Group[] {
  const kernels = Map.groupBy(
    stood,
    ({ file, row }) => JSON.stringify([file, row.kernel]),
  );
  return [...kernels.values()].flatMap((own) => {
    const groups = Map.groupBy(own.filter(isStale), (one) => one.standing);
    return [...groups].map(([standing, rows]): Group => ({
      file: rows[0]!.file,
      kernel: rows[0]!.row.kernel,
      standing,
      rows: rows.length,
      of: own.length,
      since: [...new Set(rows.map(versionOf))].toSorted(),
    }));
  });
}

function versionOf({ row: { commit, dirty, time } }: RowState): string {
  if (commit === "") return time.slice(0, "2026-11-23".length);
  return dirty === "true" ? `${commit}, which had changes` : commit;
}

function linesOf(
  groups: readonly Group[],
  figures: readonly Mention[],
): readonly string[] {
  const files = Map.groupBy(groups, ({ file }) => file);
  const lines = [...files].flatMap(([file, own]) => [
    `${file}: ${counted(own.reduce((sum, { rows }) => sum + rows, 0), "row")}`,
    ...aligned(own.map(({ kernel, rows, of, standing, since }) => [
      `  ${kernel}`,
      `${rows} of ${of}`,
      `${REASONS[standing]} ${since.join(", ")}`,
    ])),
  ]);
  if (figures.length === 0) return lines;
  return [
    ...lines,
    "Figures that rest on these rows:",
    ...aligned(figures.map(({ file, line, results }) => [
      `  ${file}:${line}`,
      results.join(", "),
    ])),
  ];
}

/** `nvidia-h200/matmul-bf16`, of the path of that CSV. */
function resultOf(csv: string): string {
  return `${basename(dirname(csv))}/${basename(csv, ".csv")}`;
}

/**
 * Names of results in a text: CSVs, of which `{a,b}` are several, suites of a folder, and pictures.
 */
const NAMED = new RegExp(
  [
    String.raw`\bresults/([\w.-]+)/([\w.-]+|\{[\w.,-]+\})\.csv`,
    String.raw`\bresults/([\w.-]+) --suite ([\w.,-]+)`,
    String.raw`\bplots/([\w.-]+)/([\w.-]+)/`,
  ].join("|"),
  "g",
);

/** Finds the lines of the README and the guide that rest on one of `results`. */
function mentions(results: ReadonlySet<string>): readonly Mention[] {
  return documents().flatMap((file) => {
    const lines = (readIfThere(file) ?? "").split("\n");
    return lines.flatMap((text, i): Mention[] => {
      const named = [...text.matchAll(NAMED)].flatMap((found) => {
        const [folder = "", suites = ""] = found.slice(1)
          .filter((part) => part !== undefined);
        return suites.replaceAll(/[{}]/g, "").split(",")
          .map((suite) => `${folder}/${suite}`);
      });
      const own = [...new Set(named)].filter((name) => results.has(name));
      return own.length === 0 ? [] : [{ file, line: i + 1, results: own }];
    });
  });
}

function documents(): readonly string[] {
  const folder = "docs/guide";
  const pages = unlessMissing(() => [...Deno.readDirSync(folder)]) ?? [];
  return [
    "README.md",
    ...pages.map(({ name }) => join(folder, name)).toSorted(),
  ].filter((file) => file.endsWith(".md"));
}

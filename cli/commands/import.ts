/**
 * `mnkbench import`: rows into a folder, our own or published ones.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { string } from "@optique/core/valueparser";
import { readIfThere, readUtf8IfThere } from "../../bench/files/disk.ts";
import { lockFolders } from "../../bench/files/lock.ts";
import { contained, replaceFile } from "../../bench/files/replace.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";

import { BRIEFS, define } from "../command.ts";
import { maybe, paths, toggle } from "../options/flags.ts";
import { number, path } from "../options/readers.ts";
import { dirname } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import { readCsvIfThere } from "../../bench/row/read_csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { keyText } from "../../bench/row/row.ts";
import { deviceFolder } from "../../bench/row/results.ts";
import { importCsv, MARKS } from "../../report/import/mod.ts";
import { csvFiles } from "../../session/read_rows.ts";
import { importRecorded } from "./import/recorded.ts";
import { printMissing, shardsOf, sourcesOf } from "./import/shards.ts";
import { logLine, printLine } from "../terminal/output.ts";

/** `mnkbench import`. */
export const command = define({
  name: "import",
  brief: BRIEFS.import,
  examples: [
    "import shards/* --into results --dry-run",
    "import bench_results_v3 --run decompose-k-v3",
  ],
  codes: {
    0: "the rows are imported, or shown",
    1: "cases of the shards are missing; the others are imported",
    3: "no CSV is there",
  },
  flags,
  run: importRows,
});

function flags() {
  return object("Importing", {
    paths: paths(
      "PATH",
      "A folder of results, as bench --out makes it, or those of shards; or CSVs of decompose-k or AITER, folders or globs.",
    ),
    into: maybe(
      "--into",
      path("DIR"),
      "Results: folder of the recorded ones (default: results).",
    ),
    threshold: maybe(
      "--threshold",
      number("PERCENT", { whole: false }),
      "Results: smallest difference that is shown (default: 3).",
    ),
    dryRun: toggle(
      "--dry-run",
      "Results: show what would be replaced, and stop.",
    ),
    run: maybe(
      "--run",
      string({ metavar: "NAME" }),
      "Published CSVs: name of the run; of a file with several, the one to take.",
    ),
    out: maybe(
      "--out",
      path("DIR"),
      "Published CSVs: folder of CSVs (default: results/published).",
    ),
  });
}

async function importRows(
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const { paths, into, threshold, dryRun, run, out } = options;
  if (paths.length === 0) {
    throw new UserError(
      "Nothing to import: name a folder of results, as in `import new --into results`, or CSVs, as in `import bench_results_v3 --run decompose-k-v3`",
    );
  }
  const files = await csvFiles(paths);
  if (areOurs(files)) {
    refuse(files[0]!, "has rows of our own", {
      "--run": run !== undefined,
      "--out": out !== undefined,
    });
    const shards = shardsOf(files);
    if (shards.length === 0 && paths.length > 1) {
      throw new UserError(
        `Cannot import ${paths.length} folders of results at once: give one, and the others after it; only shards are joined`,
      );
    }
    await importRecorded({
      sources: shards.length === 0
        ? [{ from: paths[0]! }]
        : sourcesOf(shards, files),
      into: into ?? "results",
      threshold,
      dryRun,
      print: printLine,
    });
    return printMissing(shards, files, printLine) === 0 ? EXIT.ok : EXIT.failed;
  }
  refuse(files[0]!, "has no rows of our own", {
    "--into": into !== undefined,
    "--threshold": threshold !== undefined,
    "--dry-run": dryRun,
  });
  return await importPublished(files, {
    run,
    out: out ?? "results/published",
  });
}

/** Returns whether the headers of `files` are those of our own rows. @throws {UserError} */
function areOurs(files: readonly string[]): boolean {
  const kinds = files.map((file) => {
    const columns = columnsOf(file);
    const ours = columns.includes("schema");
    const mark = MARKS.find((name) => columns.includes(name));
    if (!ours || mark === undefined) return { file, ours };
    throw new UserError(
      `Cannot import ${file}: row 1 has the column schema of our own rows and ${mark} of published ones; take one out`,
    );
  });
  const [one] = kinds;
  const other = kinds.find(({ ours }) => ours !== one?.ours);
  if (other === undefined) return one?.ours ?? false;
  const [own, published] = one?.ours ? [one, other] : [other, one!];
  throw new UserError(
    `Cannot import ${own.file} and ${published.file} at once: the first has rows of our own, the second does not; give them in two commands`,
  );
}

/** The header of `file`; empty where there is none. */
function columnsOf(file: string): readonly string[] {
  const text = readUtf8IfThere(file, "name a CSV") ?? "";
  const header = text.slice(0, text.search(/\r?\n|$/));
  return header.replace(/^\uFEFF/, "").split(",")
    .map((name) => name.replaceAll('"', "").trim());
}

function refuse(
  file: string,
  why: string,
  given: Readonly<Record<string, boolean>>,
): void {
  const stray = Object.keys(given).filter((name) => given[name]);
  if (stray.length === 0) return;
  throw new UserError(
    `Cannot import ${file} with ${stray.join(", ")}: it ${why}; leave ${
      stray.length === 1 ? "it" : "them"
    } out`,
  );
}

/** A row, and the file that it was read from. */
interface Imported {
  readonly file: string;
  readonly row: CsvRow;
}

/** Writes `<out>/<run>.csv`, all or none. @returns The exit code. */
async function importPublished(
  files: readonly string[],
  { run, out }: { readonly run: string | undefined; readonly out: string },
): Promise<number> {
  const rows: Imported[] = [];
  for (const file of files) {
    for (const row of importCsv(readText(file), { file, run })) {
      rows.push({ file, row });
    }
  }
  const targets = Map.groupBy(
    rows,
    ({ row }) => contained(out, `${deviceFolder(row.run)}.csv`),
  );
  using _lock = await lockFolders([...targets.keys()].map(dirname), {
    note: logLine,
  });
  // All are merged before any is written: an old one that cannot be read stops it here.
  const made = [...targets].map(([path, own]) => merge(path, own));
  for (const { path, text, report } of made) {
    replaceFile(path, text);
    logLine(report);
  }
  return EXIT.ok;
}

/** `rows` over what is in the file already. */
function merge(
  path: string,
  rows: readonly Imported[],
): { path: string; text: string; report: string } {
  const old = readCsvIfThere(path) ?? [];
  const merged = new Map(old.map((row) => [keyText(row), row]));
  const from = new Map<string, string>();
  let replaced = 0;
  for (const { file, row } of rows) {
    const key = keyText(row);
    const other = from.get(key);
    if (other !== undefined) {
      throw new UserError(
        `Cannot import ${file}: ${other} has ${row.kernel} at ${row.m}×${row.n}×${row.k} of ${row.suite} in run ${row.run} too; give each run a name of its own with --run`,
      );
    }
    from.set(key, file);
    if (merged.has(key)) replaced++;
    merged.set(key, row);
  }
  const report = `${path}: ${rows.length} rows${
    replaced > 0 ? `, ${replaced} of them in place of older ones` : ""
  }`;
  return { path, text: writeCsv(merged.values()), report };
}

function readText(file: string): string {
  const text = readIfThere(file);
  if (text !== undefined) return text;
  throw new UserError(
    `Cannot import ${file}: it is a link to nothing; fix it or remove it`,
  );
}

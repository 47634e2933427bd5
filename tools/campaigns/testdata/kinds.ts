/**
 * Lists the kinds of files that the program reads: a good one of each, the commands that read
 * it, and what a reading gives.
 *
 * @module
 */

import { cpu } from "../../../backends/cpu/cpu.ts";
import { readIfThere } from "../../../bench/files/disk.ts";
import { canonicalJson } from "../../../bench/files/json_file.ts";
import { BinaryCache } from "../../../bench/device/binary_cache.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { readDeviceFile } from "../../../bench/row/results.ts";
import { keyText } from "../../../bench/row/row.ts";
import { parseSamples, readSamples } from "../../../bench/row/samples.ts";
import { readTimings } from "../../../bench/tune/timing_cache.ts";
import { formatEffects, keyFields } from "../../../report/diff/mde.ts";
import { parseThresholds } from "../../../report/diff/thresholds.ts";
import { importCsv } from "../../../report/import/mod.ts";
import { effectsBeside, readRows } from "../../../session/read_rows.ts";
import { DEFAULTS, select, sweep } from "../../../session/mod.ts";
import { flawsOf } from "./row_rules.ts";

/** A kind of file. */
export interface Kind {
  /** Below the workspace. */
  readonly file: string;
  /** How it is damaged: as text, as bytes, or as the text in a compressed file. */
  readonly as: "text" | "bytes" | "compressed text";
  /** The commands that read it, given in turns, and the exit codes of those that succeed. */
  readonly commands: readonly (readonly string[])[];
  readonly codes: readonly number[];
  /** Reads it as these commands do, in the workspace. */
  reading(): Promise<unknown>;
  /**
   * Says why the reading `after` of a damaged file must have been refused; missing where it must
   * be the one `before`.
   */
  flaw?(after: unknown, before: unknown): string | undefined;
  /** What the error names beside the file. */
  readonly place: RegExp;
  /** What it names instead of the file. @default {the file} */
  readonly named?: string;
}

const SUITES = ["small", "tunable"].map((name) =>
  new URL(`../../../cli/testdata/${name}_suite.ts`, import.meta.url).pathname
);
const DEVICE = "device";
const CSV = `new/${DEVICE}/small.csv`;
const SAMPLES = `new/${DEVICE}/small.samples.jsonl.gz`;
const PUBLISHED = new URL(
  "../../../report/import/testdata/plain_matmul_fp32.csv",
  import.meta.url,
).pathname;

/** The options of the runs that make the good files. */
const SETTINGS = { ...DEFAULTS, warmup: 0.1, rep: 0.5 };

function selectHere() {
  return select({
    suites: SUITES,
    kernels: [],
    quick: false,
    overrides: {},
    where: {},
    backend: "cpu",
    device: 0,
  });
}

/** Sweeps the suites of the workspace; where `stops`, it stops before the results are published. */
export async function sweepHere({ stops = false } = {}): Promise<void> {
  const selected = await selectHere();
  const stop = new AbortController();
  let left = selected.cases.length;
  await sweep(selected, {
    ...SETTINGS,
    cacheDir: "cache",
    // Not the good one: what is known is not found, and so not kept with the run.
    timingCache: "found.json",
  }, {
    runs: 1,
    fresh: false,
    resume: false,
    timeout: 60,
    out: "published",
    unfinished: "runs",
    signal: stop.signal,
    observer: {
      note: (text) => console.error(text),
      row() {
        if (--left === 0 && stops) stop.abort();
      },
      progress: () => ({
        update() {},
        print: (text) => console.error(text),
        [Symbol.dispose]() {},
      }),
    },
  });
}

/** Makes the good files in the working folder: two runs of two suites on this machine's CPU. */
export async function makeGoodFiles(): Promise<void> {
  await sweepHere();
  Deno.renameSync("found.json", "timings.json");
  const [{ name }] = [...Deno.readDirSync("published")] as [Deno.DirEntry];
  for (const folder of ["old", "new"]) {
    await copyFolder(`published/${name}`, `${folder}/${DEVICE}`);
  }
  Deno.removeSync("published", { recursive: true });
  const rows = await readRows([CSV]);
  Deno.writeTextFileSync(
    `new/${DEVICE}/small.mde.json`,
    formatEffects({
      device: rows[0]!.row.device,
      runs: 5,
      rows: rows.map(({ row }) => ({ key: keyFields(row), mde: 0.0125 })),
    }),
  );
  Deno.writeTextFileSync(
    "thresholds.json",
    '{\n  "threshold": 900,\n  "suites": {\n    "small": { "minUs": 1.5 },\n    "other": { "threshold": 7, "minUs": 0.25 }\n  }\n}\n',
  );
  await Deno.copyFile(PUBLISHED, "published.csv");
  await sweepHere({ stops: true });
}

/** Copies a folder of files and folders. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** The command of the journal: no one of the program's, but what `bench` does. */
export const SWEEP = "sweep";

/** Returns the kinds, given the files of the workspace. */
export function kindsIn(files: readonly string[]): Readonly<
  Record<string, Kind>
> {
  const find = (pattern: RegExp) => files.find((file) => pattern.test(file))!;
  const run = find(/^runs\/.*journal\.jsonl$/).replace(/[^/]*$/, "");
  const manifest = find(/^cache\/.*manifest\.json$/);
  const diff = ["diff", "old", "new", "--config", "thresholds.json"];
  const report = ["report", CSV, "--out", "page.html"];
  const take = ["import", "new", "--into", "out"];
  const plot = ["plot", CSV, "--out", "out"];
  const journal = { commands: [[SWEEP]], codes: [0], reading: publishedRows };
  return {
    csv: {
      file: CSV,
      as: "text",
      codes: [0, 1, 3, 4],
      // Samples that are not those of the row are named by their own file.
      named: CSV.replace(/csv$/, ""),
      place: /line \d|at once/,
      commands: [["table", CSV], diff, report, take, plot],
      reading: rowsOf,
      flaw: (after) => flawsOf(after as readonly CsvRow[])[0],
    },
    "published csv": {
      file: "published.csv",
      as: "text",
      codes: [0],
      place: /row \d|line \d|: it /,
      commands: [
        ["import", "published.csv", "--run", "run", "--out", "out"],
      ],
      reading: () =>
        Promise.resolve(
          importCsv(Deno.readTextFileSync("published.csv"), {
            file: "published.csv",
            run: "run",
          }),
        ),
      flaw: (after) => flawsOf(after as readonly CsvRow[])[0],
    },
    sidecar: {
      file: SAMPLES,
      as: "bytes",
      codes: [0],
      place: /gzip|line \d/,
      commands: [report, take, plot],
      reading: samplesOf,
    },
    "text of a sidecar": {
      file: SAMPLES,
      as: "compressed text",
      codes: [0],
      place: /line \d/,
      commands: [report, take, plot],
      reading: samplesOf,
      flaw: samplesFlaw,
    },
    "device file": {
      file: `new/${DEVICE}/device.json`,
      as: "text",
      codes: [0],
      place: /field|it is/,
      commands: [plot, take],
      reading: () =>
        Promise.resolve(withoutSum(readDeviceFile(`new/${DEVICE}`, ""))),
    },
    effects: {
      file: `new/${DEVICE}/small.mde.json`,
      as: "text",
      codes: [0, 1, 3, 4],
      place: /field|it is/,
      commands: [diff],
      reading: () => Promise.resolve(withoutSum(effectsBeside(CSV))),
    },
    "timing cache": {
      file: "timings.json",
      as: "text",
      codes: [0],
      place: /field|it is/,
      commands: [
        ["tune", "list", "--timing-cache", "timings.json"],
        ["tune", "merge", "timings.json", "--timing-cache", "out/all.json"],
      ],
      reading: () => Promise.resolve(readTimings("timings.json").entries),
      flaw: isPart,
    },
    thresholds: {
      file: "thresholds.json",
      as: "text",
      codes: [0, 1, 3, 4],
      place: /thresholds\.json: /,
      commands: [diff],
      reading: () =>
        Promise.resolve(
          parseThresholds(readIfThere("thresholds.json")!, "thresholds.json"),
        ),
      flaw: thresholdsFlaw,
    },
    journal: {
      file: `${run}journal.jsonl`,
      as: "text",
      place: /line \d/,
      ...journal,
      flaw: measuredFlaw,
    },
    "run file": {
      file: `${run}run.json`,
      as: "text",
      place: /field|it is/,
      ...journal,
      flaw: measuredFlaw,
    },
    "configs of a run": {
      file: `${run}timings.json`,
      as: "text",
      place: /field|it is/,
      ...journal,
      flaw: measuredFlaw,
    },
    "kernel cache": {
      file: manifest,
      as: "text",
      codes: [0],
      place: /manifest/,
      named: manifest.replace(/\/[^/]*$/, ""),
      commands: [],
      reading: builtOf,
    },
  };
}

/** The content in a fixed order: files without a checksum are read too. */
function withoutSum(content: object | undefined): string {
  return canonicalJson({ ...content, sum: undefined });
}

async function rowsOf(): Promise<readonly CsvRow[]> {
  return (await readRows([CSV])).map(({ row }) => row);
}

async function samplesOf(): Promise<unknown> {
  const lines = await readSamples(SAMPLES, await rowsOf());
  return [...lines.values()].flat().map(parseSamples);
}

/** The samples of a line. */
interface Line {
  readonly run: string;
  readonly key: never;
  readonly samples_ns: readonly number[];
}

/** Equal for samples in any order, but for what cannot be seen in the figures of a row. */
function textOf({ run, key, samples_ns }: Line): string {
  const rounded = samples_ns.map((ns) => ns.toPrecision(8)).toSorted();
  return JSON.stringify([run, keyText(key), rounded]);
}

/** Lines of samples may be missing, and those of other cases or runs be there. */
function samplesFlaw(after: unknown, before: unknown): string | undefined {
  const [was, is] = [before as readonly Line[], after as readonly Line[]];
  const runs = new Set(was.map(({ run }) => run));
  const keys = new Set(was.map(({ key }) => keyText(key)));
  const known = new Set(was.map(textOf));
  const other = is.find((one) =>
    runs.has(one.run) && keys.has(keyText(one.key)) && !known.has(textOf(one))
  );
  return other && `other samples of a row: ${textOf(other)}`;
}

/** Entries may be missing: their cases are searched again. */
function isPart(after: unknown, before: unknown): string | undefined {
  const known = new Set(
    (before as unknown[]).map((one) => JSON.stringify(one)),
  );
  const other = (after as unknown[]).find((one) =>
    !known.has(JSON.stringify(one))
  );
  return other === undefined
    ? undefined
    : `another entry: ${JSON.stringify(other)}`;
}

function thresholdsFlaw(after: unknown): string | undefined {
  const bad: string[] = [];
  JSON.stringify(after, (name, value) => {
    if (typeof value === "object" && value !== null) return value;
    const fits = typeof value === "number" && value >= 0 &&
      value <= (name === "minUs" ? 1e12 : 1e6);
    if (!fits) bad.push(`${name} is ${value}`);
    return value;
  });
  return bad[0];
}

/** The rows and samples that `sweep` published. */
async function publishedRows(): Promise<unknown> {
  const rows = (await readRows(["published"])).map(({ row }) => row);
  return rows.map((row) => ({ ...row, started: undefined }));
}

/** Rows that differ must have been measured again. */
function measuredFlaw(after: unknown, before: unknown): string | undefined {
  const [was, is] = [before as readonly CsvRow[], after as readonly CsvRow[]];
  const last = was.map(({ time }) => time).toSorted().at(-1)!;
  const known = new Set(was.map((row) => JSON.stringify(row)));
  const odd = is.find((row) =>
    !known.has(JSON.stringify(row)) && row.time !== "" && row.time <= last
  );
  if (odd !== undefined) return `not measured: ${JSON.stringify(odd)}`;
  const cases = new Set(is.map((row) => keyText(row)));
  if (was.some((row) => !cases.has(keyText(row)))) return "a row is missing";
  return is.length === was.length ? undefined : "a row of another case";
}

/** Looks the kernel of the CPU's instruments up, in a cache that may build none. */
async function builtOf(): Promise<unknown> {
  const cache = new BinaryCache("cache", { prebuilt: true });
  const build = { source: cpu.instruments, defines: {} };
  return await cache.get(build, cpu, (await selectHere()).info.arch);
}

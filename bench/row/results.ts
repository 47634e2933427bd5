/**
 * Reads and writes recorded results: a folder for each device, with a CSV and a file of samples for
 * each suite.
 *
 * @module
 */

import { onDisk, readIfThere } from "../files/disk.ts";
import { lockFolder, type Waiting } from "../files/lock.ts";
import { assertWritable, contained, replaceFile } from "../files/replace.ts";
import {
  isSealedOrOld,
  parseJson,
  seal,
  UNSEALED,
} from "../files/json_file.ts";
import { type Calibration, calibrationSchema } from "../measure/figures.ts";
import { mean, median, spread } from "../measure/stats.ts";
import { brief, UserError } from "../model/errors.ts";
import { recordOf, writeCsv } from "./csv.ts";
import type { CsvRow, KeptRow } from "./csv_row.ts";
import { readCsvIfThere } from "./read_csv.ts";
import {
  caseText,
  keyText,
  RIGHT_ALONE,
  rowKey,
  type TimedRow,
} from "./row.ts";
import { groupSamples, readSamples, writeSamples } from "./samples.ts";
import type { Journal } from "../worker/journal.ts";
import {
  check,
  exactOptional,
  type InferOutput,
  pipe,
  strictObject,
  string,
} from "valibot";

/**
 * A device's name as a folder's.
 *
 * @example
 * ```ts
 * import { deviceFolder } from "./results.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(deviceFolder("AMD EPYC(tm) 9654"), "amd-epyc-tm-9654");
 * ```
 */
export function deviceFolder(device: string): string {
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return name || "unnamed";
}

/**
 * Makes sure, before long work, that {@linkcode publish} can put its outcome below `outDir`.
 *
 * @throws {UserError} With what it would refuse then.
 */
export async function assertPublishable(
  outDir: string,
  { device, suites }: {
    readonly device: string;
    readonly suites: readonly string[];
  },
): Promise<void> {
  const folder = folderFor(outDir, device);
  for (const suite of suites) {
    const paths = pathsOf(outDir, device, suite);
    await oldAt(paths, device);
    for (const path of Object.values(paths)) assertWritable(path);
  }
  peaksIn(folder, device);
  assertWritable(contained(outDir, deviceFolder(device), DEVICE_FILE));
}

/** Options of {@linkcode publish}: its waiting, and what becomes of the journal. */
export interface Publishing extends Waiting {
  /** Whether the run goes on later: its journal stays. @default {false} */
  readonly unfinished?: boolean;
}

/**
 * Puts the rows of a run in the place of older rows of the same keys, keeps all others, and removes
 * the journal of a finished run. May be repeated where it was stopped half way.
 *
 * @param outDir The folder of the devices' folders.
 * @returns The paths of the CSVs.
 * @throws {UserError} Where something old cannot be kept or the disk refuses; the journal
 * is then still there.
 */
export async function publish(
  journal: Journal,
  outDir: string,
  { unfinished = false, ...waiting }: Publishing = {},
): Promise<string[]> {
  const { calibration, info: { device, arch, harness }, run } = journal;
  const folder = folderFor(outDir, device);
  // Runs on two devices of the same name may end at the same moment.
  using _lock = await lockFolder(folder, waiting);

  const suites = Map.groupBy(combined(journal), (row) => row.key.suite);
  // All are read before any is written: an old one that cannot be read stops it here.
  const olds = new Map<string, Old>();
  for (const suite of suites.keys()) {
    olds.set(suite, await oldAt(pathsOf(outDir, device, suite), device));
  }
  if (calibration) peaksIn(folder, device);
  const fresh = groupSamples(journal.sampleLines());
  for (const [suite, own] of suites) {
    const old = olds.get(suite)!;
    const rows = merge(old.rows, own);
    const measured = new Set(own.map((row) => keyText(rowKey(row))));
    const lines = rows.filter((row) => row.status === "ok").flatMap((row) => {
      const key = keyText(row);
      const from = measured.has(key) ? fresh : old.samples;
      // A repeat without samples leaves a hole.
      return (from.get(key) ?? []).filter((line) => line !== undefined);
    });
    const { csv, samples } = pathsOf(outDir, device, suite);
    await writeSamples(samples, lines);
    replaceFile(csv, writeCsv(rows));
  }
  if (calibration) {
    const content = { device, arch, harness, run, calibration };
    writeDeviceFile(outDir, deviceFolder(device), content);
  }
  if (!unfinished) journal.finish();
  return [...suites.keys()].map((suite) => pathsOf(outDir, device, suite).csv);
}

/** The folder of `device`, which is made where it is missing. */
function folderFor(outDir: string, device: string): string {
  const folder = contained(outDir, deviceFolder(device));
  onDisk(folder, () => Deno.mkdirSync(folder, { recursive: true }));
  return folder;
}

/** The files of a suite. */
interface SuitePaths {
  readonly csv: string;
  readonly samples: string;
}

/** @throws {UserError} Where one is not below `outDir`. */
function pathsOf(outDir: string, device: string, suite: string): SuitePaths {
  const file = (name: string) =>
    contained(outDir, deviceFolder(device), `${suite}.${name}`);
  return { csv: file("csv"), samples: file("samples.jsonl.gz") };
}

/** The name of the file of a device's calibration. */
const DEVICE_FILE = "device.json";

const ELSEWHERE =
  "move it away or pass --out with another folder, without --record";

/** The results of a suite from an earlier run. */
interface Old {
  readonly rows: readonly CsvRow[];
  /** Lines by key text. */
  readonly samples: ReadonlyMap<string, readonly string[]>;
}

/** @throws {UserError} Where something is there that is not of a suite on `device`. */
async function oldAt(
  { csv, samples }: SuitePaths,
  device: string,
): Promise<Old> {
  const rows = readCsvIfThere(csv) ?? [];
  for (const row of rows) {
    refuseOtherDevice(row, { device, path: csv, wayOut: ELSEWHERE });
  }
  return { rows, samples: await readSamples(samples, rows, ELSEWHERE) };
}

/**
 * Refuses a row or a device file of another device at `path`. Two devices may have one folder; rows
 * of one would replace those of the other, as their keys are the same.
 *
 * @throws {UserError} Where it is not of `device`.
 */
export function refuseOtherDevice(
  there: { readonly device: string },
  { device, path, wayOut }: {
    readonly device: string;
    readonly path: string;
    /** What the error ends with. */
    readonly wayOut: string;
  },
): void {
  if (there.device === device) return;
  throw new UserError(
    `Cannot write ${path}: it is of device ${
      brief(there.device)
    }, and the new rows are of ${brief(device)}; ${wayOut}`,
  );
}

const deviceSchema = pipe(
  strictObject({
    device: string(),
    arch: string(),
    harness: string(),
    run: string(),
    calibration: calibrationSchema,
    /** Missing in files of version 0.1. */
    sum: exactOptional(string()),
  }),
  check((content) => isSealedOrOld(content), UNSEALED),
);

/** The content of a `device.json`: what a run measured of its device. */
type DeviceFile = Readonly<InferOutput<typeof deviceSchema>>;

/**
 * Reads the `device.json` of `folder`; nothing where there is none.
 *
 * @param wayOut What the error ends with.
 * @param device The device that it must be of. @default {any}
 * @throws {UserError} With the field, where it is not as `bench` writes it, and for another device.
 */
export function readDeviceFile(
  folder: string,
  wayOut: string,
  device?: string,
): DeviceFile | undefined {
  const path = `${folder}/${DEVICE_FILE}`;
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const file = parseJson(
    deviceSchema,
    text,
    (why) => new UserError(`Cannot read ${path}: ${why}; ${wayOut}`),
  );
  if (device !== undefined) refuseOtherDevice(file, { device, path, wayOut });
  return file;
}

/**
 * Writes the `device.json` of `folder` below `outDir`, whose lock the caller has. A run measures
 * the peaks of its own types; those of others stay.
 *
 * @throws {UserError} Where the old one cannot be read or the disk refuses.
 */
export function writeDeviceFile(
  outDir: string,
  folder: string,
  content: DeviceFile,
): void {
  const { calibration, device } = content;
  const peak = {
    ...peaksIn(contained(outDir, folder), device),
    ...calibration.peak,
  };
  const merged = seal({ ...content, calibration: { ...calibration, peak } });
  replaceFile(
    contained(outDir, folder, DEVICE_FILE),
    `${JSON.stringify(merged, null, 2)}\n`,
  );
}

function peaksIn(folder: string, device: string): Calibration["peak"] {
  return readDeviceFile(folder, ELSEWHERE, device)?.calibration.peak ?? {};
}

/** One row for each case, in the order of measuring. */
export function combined({ rows }: Journal): KeptRow[] {
  const cases = Map.groupBy(rows, ({ row }) => caseText(row.key));
  return [...cases.values()].map((repeats) =>
    combine(repeats.map(({ row }) => row))
  );
}

/** Old rows where they were, replaced where `rows` has the same key; then the new ones. */
function merge(old: readonly CsvRow[], rows: readonly KeptRow[]): CsvRow[] {
  const merged = new Map(old.map((row) => [keyText(row), row] as const));
  for (const row of rows) merged.set(keyText(rowKey(row)), recordOf(row));
  return [...merged.values()];
}

/**
 * The share of the median by which a repeat differs that was disturbed. On a quiet GPU repeats
 * differ by 1 %, as launches cost more in some seconds than in others, and their mean is 1.25 times
 * as precise as their median.
 */
const APART = 0.05;

/**
 * The row that stands for `repeats` of one case, at least one.
 *
 * The times are means over the repeats, with the least of their minimums; a repeat whose median is
 * more than {@linkcode APART} from the one in the middle was disturbed, and does not count. The
 * rates are scaled to that median. `between_run_us` is the sample standard deviation of all medians.
 * The rest is from the repeat in the middle (of two, the faster), what a search took and noted from
 * the repeat that searched; that it failed once is noted of any. A repeat that failed makes the case
 * one that failed.
 */
export function combine(repeats: readonly KeptRow[]): KeptRow {
  const failed = repeats.find((row) => row.status !== "ok");
  if (failed) return failed;
  const timed = (repeats as readonly TimedRow[]).toSorted((a, b) =>
    a.figures.median_us - b.figures.median_us
  );
  const medians = timed.map((row) => row.figures.median_us);
  const half = timed.length / 2;
  const middles = timed.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  const middle = middles[0]!;
  const { figures, provenance } = middle;
  const center = median(medians);
  const near = timed.filter(({ figures: { median_us } }) =>
    Math.abs(median_us - center) <= APART * center
  );
  const counted = near.length > 0 ? near : middles;
  const meanOf = (column: "median_us" | "q1_us" | "q3_us" | "mean_us") =>
    mean(counted.map((row) => row.figures[column]));
  const median_us = meanOf("median_us");
  const searched = timed.find((row) =>
    Number(row.provenance.search_configs) > 0
  );
  const { search_configs = 0, search_ms = 0 } = searched?.provenance ?? {};
  const parts = (row?: TimedRow) => row?.note ? row.note.split("; ") : [];
  const notes = [
    ...[searched, middle].flatMap(parts),
    // One repeat in which it failed tells of all.
    ...timed.flatMap(parts).filter((part) => part.endsWith(RIGHT_ALONE)),
  ];
  const between_run_us = spread(medians);
  const rate = figures.median_us / median_us;
  return {
    ...middle,
    note: [...new Set(notes)].join("; "),
    provenance: {
      ...provenance,
      ...(searched && { search_configs, search_ms }),
    },
    figures: {
      ...figures,
      median_us,
      q1_us: meanOf("q1_us"),
      q3_us: meanOf("q3_us"),
      min_us: Math.min(...counted.map((row) => row.figures.min_us)),
      mean_us: meanOf("mean_us"),
      tflops: rate * figures.tflops,
      gbps: rate * figures.gbps,
      runs: timed.length,
      ...(between_run_us === undefined ? {} : { between_run_us }),
    },
  };
}

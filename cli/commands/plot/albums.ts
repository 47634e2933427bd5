/**
 * Reads the rows that `plot` draws: one album for each device and suite, with the samples and
 * the measurement of the device that lie beside their CSV.
 *
 * @module
 */

import { dirname, join } from "node:path";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { UserError } from "../../../bench/model/errors.ts";
import type { Calibration } from "../../../bench/measure/figures.ts";
import { deviceFolder, readDeviceFile } from "../../../bench/row/results.ts";
import { isPublished } from "../../../bench/row/row.ts";
import { type ChartData, chartData } from "../../../report/chart/data.ts";
import { ofOneTiming } from "../../../report/model/timing.ts";
import type { ThemeName } from "../../../report/chart/theme.ts";
import {
  evidenceOf,
  readRows,
  type SourcedRow,
} from "../../../session/read_rows.ts";
import {
  baselinesOf,
  type OwnBaselines,
} from "../../../session/library/baselines.ts";
import { namedSuites } from "../../../session/library/suite_text.ts";
import { builtInSuites } from "../../../suites/mod.ts";
import { refuseUnknown } from "../../options/named_rows.ts";
import { usualPaths } from "../../options/usual_paths.ts";
import { logLine, logWrapped } from "../../terminal/output.ts";

/** The rows of one suite on one device. */
export interface Album {
  /** The folder of its pictures, below that of all: `nvidia-h200/matmul-bf16`. */
  readonly folder: string;
  readonly data: ChartData;
}

/** The rows to draw, and how. */
export interface AlbumOptions {
  /** None stands for the usual folder. */
  readonly paths: readonly string[];
  /** None stands for all. */
  readonly suites: readonly string[];
  readonly theme: ThemeName;
  /** Kernels to draw; none stands for the suite's. */
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  /** Rows of one timing for each suite and device. */
  readonly timer: string | undefined;
  readonly cache: string | undefined;
}

/**
 * Reads the albums that `options` name, with what lies beside their CSVs.
 *
 * @throws {UserError} For what cannot be read, a case that is there twice, for a suite or kernel
 * that no row has, and for a baseline that a suite has no row of.
 */
export async function* albumsOf(options: AlbumOptions): AsyncGenerator<Album> {
  const { kernels } = options;
  const all = await readRows(usualPaths(options.paths));
  const known = new Set(all.map(({ row }) => row.suite));
  const { suites, own } = namedSuites(options.suites, known, logLine);
  // Without rows every name would be unknown.
  if (all.length > 0) refuseUnknown("suite", suites, [...known]);
  const wanted = all.filter(({ row }) =>
    suites.length === 0 || suites.includes(row.suite)
  );
  const shown = ofOneTiming(wanted, ({ row }) => row, {
    ...options,
    note: logWrapped,
  });
  // Whatever is drawn of them, a kernel has the same colour.
  const names = [...new Set(all.map(({ row: { kernel } }) => kernel))];
  if (all.length > 0) refuseUnknown("kernel", kernels, names);
  for (const [folder, rows] of Map.groupBy(shown, (one) => folderOf(one.row))) {
    const there = rows.map(({ row: { kernel } }) => kernel);
    // Of a suite without any of them nothing is drawn.
    if (kernels.length > 0 && !there.some((name) => kernels.includes(name))) {
      continue;
    }
    yield { folder, data: await dataOf(rows, { ...options, names, own }) };
  }
}

async function dataOf(
  sourced: readonly SourcedRow[],
  { theme, baseline, kernels: only, names, own }: AlbumOptions & {
    /** All kernels of the rows. */
    readonly names: readonly string[];
    readonly own: OwnBaselines;
  },
): Promise<ChartData> {
  const rows = sourced.map(({ row }) => row);
  const files = [...new Set(sourced.map(({ file }) => file))];
  const { suite, device } = rows[0]!;
  const builtIn = (await builtInSuites()).find(({ name }) => name === suite);
  const kernels = new Set(rows.map(({ kernel }) => kernel));
  if (baseline !== undefined && !kernels.has(baseline)) {
    throw new UserError(
      `No row of suite ${suite} is of kernel ${baseline}: --baseline must be one of ${
        [...kernels].join(", ")
      }`,
    );
  }
  const calibration = calibrationOf(files, device);
  // Samples of an older run beside newer rows would show what was not measured.
  const evidence = new Map(
    [...await evidenceOf(sourced)].map(([{ row }, own]) => [row, own]),
  );
  return chartData(rows, {
    theme,
    ...(builtIn && { title: builtIn.title }),
    ...(baseline !== undefined && { baseline }),
    baselines: baselinesOf(suite, { own }),
    ...(calibration && { calibration }),
    only,
    others: names,
    samples: (row) => evidence.get(row)?.repeats ?? [],
  });
}

/** Returns the device's own measurement, beside one of `files`. */
function calibrationOf(
  files: readonly string[],
  device: string,
): Calibration | undefined {
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    const content = readDeviceFile(folder, "measure again or move it away");
    if (content === undefined) continue;
    if (content.device === device) return content.calibration;
    logLine(
      `${
        join(folder, "device.json")
      } is of ${content.device}, and not used for ${device}`,
    );
  }
}

function folderOf(row: CsvRow): string {
  const device = deviceFolder(row.device);
  const suite = deviceFolder(row.suite);
  // Runs of others have the same cases.
  return isPublished(row)
    ? `published/${device}-${deviceFolder(row.run)}/${suite}`
    : `${device}/${suite}`;
}

/**
 * Reads the configs that won in the program's recorded results, for other devices of the same
 * architecture.
 *
 * @module
 */

import { basename, join } from "node:path";
import {
  readable,
  readBytesIfThere,
  unlessMissing,
} from "../bench/files/disk.ts";
import { UserError } from "../bench/model/errors.ts";
import { recordsOf } from "../bench/row/csv_records.ts";
import { deviceFolder } from "../bench/row/results.ts";
import {
  HINT_COLUMNS,
  type HintRow,
  Hints,
  pointOf,
} from "../bench/tune/hints.ts";
import { isAuto } from "../bench/tune/auto_kernel.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import { HOME, RESULTS } from "./home.ts";

const known = new Map<string, Hints>();
const read = new Map<string, readonly HintRow[]>();

/** The device that rows are wanted for. */
export type Wanted = Pick<DeviceInfo, "arch" | "name">;

/**
 * The recorded configs of devices like `wanted`; read once.
 *
 * @param early Whether calls start before their predecessor ends.
 */
export function hintsFor(wanted: Wanted, early = false): Hints {
  const key = `${keyOf(wanted)} ${early}`;
  const hints = known.get(key) ?? new Hints(rowsOn(wanted), early);
  known.set(key, hints);
  return hints;
}

/** The program's recorded rows of devices like `wanted`; read once. */
export function rowsOn(wanted: Wanted): readonly HintRow[] {
  const key = keyOf(wanted);
  const rows = read.get(key) ?? recordedRows(wanted);
  read.set(key, rows);
  return rows;
}

const keyOf = ({ arch, name }: Wanted) => `${arch} ${name}`;

/**
 * The rows in `folder` of devices of an architecture. Where several devices have rows of a point,
 * those of the device itself are taken, else those of the device with the most rows: times of two
 * devices do not order kernels. Devices with a kernel to choose there come before those that have
 * `auto` and libraries alone. What cannot be read, or is no CSV of results, gives none: `table` says
 * what is wrong with it, and a search without hints only takes longer.
 *
 * @param folder A folder of CSVs for each device. @default {the program's results}
 */
export function recordedRows(
  { arch, name }: Wanted,
  folder: string = join(HOME, RESULTS),
): readonly HintRow[] {
  const devices = filesIn(folder, ({ isDirectory }) => isDirectory).map(
    (device) => ({
      isOwn: basename(device) === deviceFolder(name),
      rows: filesIn(device, ({ name }) => name.endsWith(".csv"))
        .flatMap((file) => rowsOf(file, arch)),
    }),
  ).toSorted((a, b) =>
    Number(b.isOwn) - Number(a.isOwn) || b.rows.length - a.rows.length
  );
  const owners = new Map<string, number>();
  for (const counts of [isChoosable, () => true]) {
    for (const [device, { rows }] of devices.entries()) {
      for (const point of new Set(rows.filter(counts).map(pointOf))) {
        if (!owners.has(point)) owners.set(point, device);
      }
    }
  }
  return devices.flatMap(({ rows }, device) =>
    rows.filter((row) => owners.get(pointOf(row)) === device)
  );
}

/** Whether a row is of a tunable kernel with sources, of which its config says more than its time. */
function isChoosable({ kernel, config, source_hash }: HintRow): boolean {
  return config !== "" && source_hash !== "" && !isAuto(kernel);
}

function filesIn(
  folder: string,
  wanted: (entry: Deno.DirEntry) => boolean,
): readonly string[] {
  // A pack for no architecture has no results.
  const entries = orNone(() =>
    readable(folder, () => unlessMissing(() => [...Deno.readDirSync(folder)]))
  );
  return entries.filter(wanted).map(({ name }) => join(folder, name)).sort();
}

/** Bytes of the longest file that is read; recorded ones have less than 2 MB. */
const MOST_BYTES = 1 << 26;

function rowsOf(file: string, arch: string): readonly HintRow[] {
  return orNone(() => {
    const bytes = readBytesIfThere(file, MOST_BYTES);
    return bytes && rowsIn(bytes, arch);
  });
}

function rowsIn(
  bytes: Uint8Array<ArrayBuffer>,
  arch: string,
): readonly HintRow[] {
  const rows: HintRow[] = [];
  let places: readonly (readonly [string, number])[] | undefined;
  for (const fields of recordsOf([bytes])) {
    if (places === undefined) {
      places = HINT_COLUMNS.map((name) => [name, fields.indexOf(name)]);
      if (places.some(([, at]) => at < 0)) return [];
      continue;
    }
    const row = Object.fromEntries(
      places.map(([name, at]) => [name, fields[at] ?? ""]),
    ) as HintRow;
    if (row.arch !== arch) {
      // The rows of a file are of one device: a file that begins with another is skipped.
      if (rows.length === 0) return [];
      continue;
    }
    if (row.status === "ok") rows.push(row);
  }
  return rows;
}

/** What `read` returns; nothing where there is nothing, or what cannot be read. */
function orNone<T>(read: () => readonly T[] | undefined): readonly T[] {
  try {
    return read() ?? [];
  } catch (error) {
    if (error instanceof UserError || error instanceof SyntaxError) return [];
    throw error;
  }
}

/**
 * Reads the configs that won in the program's recorded results, for other devices of the same
 * architecture.
 *
 * @module
 */

import { join } from "node:path";
import { unlessMissing } from "../bench/files/disk.ts";
import { recordsOf } from "../bench/row/csv_records.ts";
import { HINT_COLUMNS, type HintRow, Hints } from "../bench/tune/hints.ts";
import { HOME, RESULTS } from "./home.ts";

const known = new Map<string, Hints>();

/** The recorded configs of devices of `arch`; read once. */
export function hintsFor(arch: string): Hints {
  const hints = known.get(arch) ?? new Hints(recordedRows(arch));
  known.set(arch, hints);
  return hints;
}

/**
 * The rows in `folder` of devices of `arch`. A file that is no CSV of results gives none: `table`
 * says what is wrong with it, and a search without hints only takes longer.
 *
 * @param folder A folder of CSVs for each device. @default {the program's results}
 */
export function recordedRows(
  arch: string,
  folder: string = join(HOME, RESULTS),
): readonly HintRow[] {
  return filesIn(folder, ({ isDirectory }) => isDirectory).flatMap((device) =>
    filesIn(device, ({ name }) => name.endsWith(".csv"))
      .flatMap((file) => rowsOf(file, arch))
  );
}

function filesIn(
  folder: string,
  wanted: (entry: Deno.DirEntry) => boolean,
): readonly string[] {
  // A pack for no architecture has no results.
  const entries = unlessMissing(() => [...Deno.readDirSync(folder)]) ?? [];
  return entries.filter(wanted).map(({ name }) => join(folder, name)).sort();
}

function rowsOf(file: string, arch: string): readonly HintRow[] {
  const rows: HintRow[] = [];
  let places: readonly (readonly [string, number])[] | undefined;
  try {
    for (const fields of recordsOf([Deno.readFileSync(file)])) {
      if (places === undefined) {
        places = HINT_COLUMNS.map((name) => [name, fields.indexOf(name)]);
        if (places.some(([, at]) => at < 0)) return [];
        continue;
      }
      const row = Object.fromEntries(
        places.map(([name, at]) => [name, fields[at] ?? ""]),
      ) as HintRow;
      // All rows of a file are of one device.
      if (row.arch !== arch) return [];
      if (row.status === "ok" && row.config !== "") rows.push(row);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [];
  }
  return rows;
}

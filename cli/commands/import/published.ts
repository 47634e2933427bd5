/**
 * `mnkbench import` of published figures: they become rows of our own schema.
 *
 * @module
 */

import { join } from "node:path";
import { writeCsv } from "../../../bench/row/csv.ts";
import { readCsvIfThere } from "../../../bench/row/read_csv.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { onDisk, readIfThere, replaceFile } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { keyText } from "../../../bench/row/row.ts";
import { deviceFolder } from "../../../bench/row/results.ts";
import { importCsv } from "../../../report/import/mod.ts";
import { asTyped } from "../../../session/home.ts";
import { tell } from "../../terminal/output.ts";

/** A row, and the file that it was read from. */
interface Imported {
  readonly file: string;
  readonly row: CsvRow;
}

/** Writes `<out>/<run>/<suite>.csv`, all or none. @returns The exit code. */
export function importPublished(
  files: readonly string[],
  { run, out }: { readonly run: string | undefined; readonly out: string },
): number {
  const rows: Imported[] = [];
  for (const file of files) {
    for (const row of importCsv(readText(file), { file, run })) {
      rows.push({ file, row });
    }
  }
  const targets = Map.groupBy(
    rows,
    ({ row }) => join(asTyped(out), deviceFolder(row.run), `${row.suite}.csv`),
  );
  // All are merged before any is written: an old one that cannot be read stops it here.
  const made = [...targets].map(([path, own]) => merge(path, own));
  for (const { path, text, report } of made) {
    const folder = join(path, "..");
    onDisk(folder, () => Deno.mkdirSync(folder, { recursive: true }));
    replaceFile(path, text);
    tell(report);
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
    `Cannot import ${file}: it is a link to nothing; mend it or remove it`,
  );
}

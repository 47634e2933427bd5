/**
 * `mnkbench table --wide`: rows as the CSVs of the decompose-k measurements.
 *
 * @module
 */

import { join } from "node:path";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { onDisk, replaceFile } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { formatWide, wideName } from "../../../report/table/wide.ts";
import { asTyped } from "../../../session/home.ts";
import { say, tell } from "../../terminal/output.ts";

/** Prints the one suite of `rows`, or writes a file a suite to `out`. @returns The exit code. */
export function wide(rows: readonly CsvRow[], out: string | undefined): number {
  const folder = out === undefined ? "" : asTyped(out);
  const suites = Map.groupBy(rows, ({ suite }) => suite);
  if (out === undefined && suites.size > 1) {
    throw new UserError(
      `Cannot print ${suites.size} suites as one wide table: choose one with --suite, or give a folder for all with --out`,
    );
  }
  // All are made before any is written: one that cannot be made stops it here.
  const files = [...suites].map(([suite, own]) => ({
    path: join(folder, wideName(suite)),
    ...formatWide(own),
  }));
  if (out !== undefined) {
    onDisk(folder, () => Deno.mkdirSync(folder, { recursive: true }));
  }
  for (const { path, csv, left } of files) {
    if (out === undefined) say(csv.trimEnd());
    else {
      replaceFile(path, csv);
      tell(`wrote ${path}`);
    }
    const kernels = [...Map.groupBy(left, ({ kernel }) => kernel)];
    if (kernels.length === 0) continue;
    const list = kernels.map(([kernel, { length }]) => `${kernel} (${length})`);
    tell(`rows without a column or without a time: ${list.join(", ")}`);
  }
  return EXIT.ok;
}

/**
 * The rows that `table` was asked for.
 *
 * @module
 */

import { findSimilar } from "@optique/core/suggestion";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { isPublished } from "../../../bench/row/case_key.ts";
import { ofProgram } from "../../../session/home.ts";
import { readRows } from "../../../session/read_rows.ts";

// Of the folder in which the program runs, which is not where its task was typed.
const RESULTS = "results";
const PUBLISHED = "results/published";

/** Which rows. Empty lists stand for all. */
export interface RowChoice {
  /** None stands for `results`. */
  readonly paths: readonly string[];
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  readonly against: readonly string[];
  readonly published: boolean;
  /** Of published rows, only those of these runs. */
  readonly publishedRuns: readonly string[];
}

/**
 * The rows of the files, suites, runs and kernels that `options` name. The baseline and what is
 * counted against are there too, named among the kernels or not.
 *
 * @throws {UserError} For a file that cannot be read, a case that is there twice, a name
 * that nothing has, and where nothing is left.
 */
export async function tableRows(
  options: RowChoice,
): Promise<readonly CsvRow[]> {
  const { paths, published, baseline, against } = options;
  const found = await readRows([
    ...(paths.length > 0 ? paths : [ofProgram(RESULTS)]),
    ...(published ? [ofProgram(PUBLISHED)] : []),
  ]);
  const all = found.map(({ row }) => row);
  if (all.length === 0) {
    throw new UserError(
      `No row is in ${
        paths.join(", ") || RESULTS
      }: measure some with \`mnkbench bench\``,
      EXIT.nothing,
    );
  }
  const others = [...(baseline === undefined ? [] : [baseline]), ...against];
  refuseUnknown("suite", options.suites, all.map(({ suite }) => suite));
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
  const isNamed = ({ suite }: CsvRow) =>
    options.suites.length === 0 || options.suites.includes(suite);
  // Beside what was measured they stand by their points, whatever their source was called.
  const joins = published &&
    all.some((row) => isNamed(row) && !isPublished(row));
  const rows = all.filter((row) =>
    (runs.length === 0 || !isPublished(row) || runs.includes(row.run)) &&
    (isNamed(row) || (joins && isPublished(row))) &&
    (options.kernels.length === 0 ||
      namesOf(row).some((name) => kernels.has(name)))
  );
  if (rows.length > 0) return rows;
  throw new UserError(
    `No row of kernel ${options.kernels.join(", ") || "any"} is of suite ${
      options.suites.join(", ") || "any"
    }: leave out --kernel or --suite`,
    EXIT.nothing,
  );
}

/** What a row's kernel may be called: with its run too where it is published. */
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

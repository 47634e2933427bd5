/**
 * Formats what a captured program spends its time on, and what faster kernels save of it.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { readIfThere } from "../../../bench/files/disk.ts";
import { shownJson } from "../../../bench/files/json_file.ts";
import { readCaptured } from "../../../bench/model/captured.ts";
import { UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import {
  formatMarkdown,
  formatText,
  type GridOptions,
} from "../../../report/table/sheet.ts";
import {
  weightsData,
  weightsSheet,
} from "../../../report/table/weights_sheet.ts";
import { capturedSuites } from "../../../session/capture/suites_of.ts";
import { weightsOf } from "../../../session/capture/weights.ts";
import { quoted, typed } from "../../../session/home.ts";
import type { RowChoice } from "./rows.ts";
import type { Layout } from "./tables.ts";

/** The options of {@linkcode weightsText}. */
type Options =
  & Pick<RowChoice, "weights" | "timer" | "cache">
  & Pick<Layout, "format" | "lines" | "all">
  & Partial<Pick<RowChoice, "row" | "published">>
  & Partial<Pick<Layout, "wins" | "tuning" | "metrics" | "against" | "top">>;

/** Options that change what other tables show. */
const OF_ROWS = [
  ...["row", "published", "wins", "tuning", "metrics", "against", "top"],
] as const satisfies readonly (keyof Options)[];

/**
 * Returns what `table --weights` prints.
 *
 * @throws {UserError} For a file that is not there or no captured one, and for options of tables of
 * rows.
 */
export function weightsText(
  rows: readonly CsvRow[],
  options: Options,
  screen: GridOptions,
): string {
  const { weights, timer, cache, lines, format, all = false } = options;
  const path = weights!;
  const other = OF_ROWS.find((name) => {
    const value = options[name];
    return Array.isArray(value) ? value.length > 0 : value;
  });
  if (other !== undefined) {
    const flag = other === "metrics" ? "metric" : other;
    throw new UserError(
      `Cannot show --weights with --${flag}, which is of tables of rows: leave one of them out`,
    );
  }
  if (format === "csv" || format === "decompose-k") {
    throw new UserError(
      "--weights is for --format text, md and json: CSV has a line for each row",
    );
  }
  const content = readIfThere(path);
  if (content === undefined) {
    throw new UserError(`Cannot read ${path}: there is no such file`);
  }
  const captured = readCaptured(content, path);
  const suites = capturedSuites(captured)
    .map(({ file }) => quoted(join(dirname(path), file))).join();
  const found = weightsOf(captured, rows, {
    timer,
    cache,
    suite: typed(`bench --suite ${suites} --peers torch`),
  });
  if (format === "json") return shownJson(found.map(weightsData), 2);
  return found.map((one) => weightsSheet(one, lines)).flatMap((
    { ranked, ...sheet },
    i,
  ) => [
    ...(i > 0 ? [""] : []),
    ...(format === "md"
      ? formatMarkdown(sheet)
      : formatText(all ? sheet : { ...sheet, ranked: ranked! }, screen)),
  ]).join("\n");
}

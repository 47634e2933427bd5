/**
 * `mnkbench table`: recorded rows as tables.
 *
 * @module
 */

import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { GridOptions } from "../../../report/table/grid.ts";
import {
  formatMarkdown,
  formatText,
  type Sheet,
} from "../../../report/table/layout.ts";
import {
  contenderNamed,
  leftOut,
  type Pivot,
  pivots,
} from "../../../report/model/pivot.ts";
import {
  pivotsCsv,
  pivotsJson,
  winsCsv,
} from "../../../report/table/pivot_data.ts";
import { pivotSheet } from "../../../report/table/pivot_sheet.ts";
import { winsSheets } from "../../../report/table/wins_sheet.ts";
import { suites as builtIn } from "../../../suites/mod.ts";
import type { TableOptions } from "../../../session/options.ts";
import { tableRows } from "./rows.ts";
import { say, screenOf, tell } from "../../terminal/output.ts";
import { wide } from "./wide.ts";

/** What published figures are relative to where none of a suite's baselines is there. */
const EAGER = ["torch.mm+relu", "torch.mm"];

/** Prints the tables. @returns The exit code. */
export async function table(options: TableOptions): Promise<number> {
  if (options.out !== undefined && !options.wide) {
    throw new UserError("--out is for --wide: add it, or leave out --out");
  }
  const rows = await tableRows(options);
  if (options.wide) return wide(rows, options.out);
  const tables = tablesOf(rows, options);
  const left = leftOut(rows, tables).length;
  if (left > 0) {
    tell(
      `${left} published rows are at other shapes and are not shown; name only their files to see them`,
    );
  }
  say(formatTables(tables, options, screenOf(Deno.stdout)));
  return EXIT.ok;
}

/** What `table` prints for `options`, as it would stand in a file. */
export async function tableText(options: TableOptions): Promise<string> {
  const tables = tablesOf(await tableRows(options), options);
  return formatTables(tables, options, { width: Infinity, color: false });
}

function tablesOf(
  rows: readonly CsvRow[],
  { baseline, against }: TableOptions,
): Pivot[] {
  const tables = pivots(rows, {
    baselines: (suite) =>
      baseline === undefined ? baselinesOf(suite) : [baseline],
  });
  for (
    const name of baseline === undefined ? against : [baseline, ...against]
  ) {
    if (tables.some((table) => contenderNamed(table, name))) continue;
    const names = tables.flatMap(({ contenders }) =>
      contenders.filter(({ kernel }) => kernel === name).map((c) => c.name)
    );
    throw new UserError(
      names.length === 0
        ? `No table has kernel ${name}, whose rows are at other shapes: name another`
        : `Several runs have a kernel ${name}: name one of ${
          [...new Set(names)].join(", ")
        }`,
    );
  }
  return tables;
}

/** What speed-ups of `suite` are relative to, the preferred first. */
function baselinesOf(suite: string): readonly string[] {
  const own = builtIn.find(({ name }) => name === suite)?.baselines ?? [];
  return [...own, ...EAGER];
}

/** A name that wins of one of `tables` could be counted against. */
function possible(tables: readonly Pivot[]): string | undefined {
  const usual = tables.flatMap(({ suite, contenders }) =>
    contenders.filter(({ kernel }) => baselinesOf(suite).includes(kernel))
  );
  return (usual[0] ?? tables[0]?.contenders[0])?.name;
}

function formatTables(
  tables: readonly Pivot[],
  { format, wins, against }: TableOptions,
  screen: GridOptions,
): string {
  const others = ({ baseline }: Pivot) =>
    against.length > 0 ? against : baseline === undefined ? [] : [baseline];
  if (format === "json") return pivotsJson(tables, others);
  if (format === "csv") {
    return (wins ? winsCsv(tables, others) : pivotsCsv(tables)).trimEnd();
  }
  const sheets = tables.flatMap((table): Sheet[] => [
    ...(wins ? [] : [pivotSheet(table)]),
    ...winsSheets(table, others(table)),
  ]);
  if (sheets.length === 0) {
    throw new UserError(
      against.length === 0
        ? `No table has a baseline to count wins against: name a kernel, as with --against ${
          possible(tables)
        }`
        : `No shape has a time both of ${
          against.join(" or ")
        } and of another kernel, so there is nothing to count: name another with --against, or leave out --wins`,
    );
  }
  return sheets.flatMap((sheet, i) => [
    ...(i > 0 ? [""] : []),
    ...(format === "md" ? formatMarkdown(sheet) : formatText(sheet, screen)),
  ]).join("\n");
}

/**
 * Recorded rows as tables.
 *
 * @module
 */

import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { UserError } from "../../../bench/model/errors.ts";
import type { GridOptions } from "../../../report/table/grid.ts";
import {
  formatMarkdown,
  formatText,
  type Sheet,
} from "../../../report/table/layout.ts";
import {
  contenderNamed,
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

/** What published figures are relative to where none of a suite's baselines is there. */
const EAGER = ["torch.mm+relu", "torch.mm"];

/** What tables are relative to, and how they are written. */
export interface Layout {
  readonly baseline: string | undefined;
  readonly against: readonly string[];
  readonly wins: boolean;
  readonly format: "text" | "md" | "csv" | "json";
}

/** The tables of `rows`. @throws {UserError} For a kernel that no table has. */
export function tablesOf(
  rows: readonly CsvRow[],
  { baseline, against }: Pick<Layout, "baseline" | "against">,
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

/** `tables` as they are printed. @throws {UserError} Where there is nothing to count. */
export function formatTables(
  tables: readonly Pivot[],
  { format, wins, against }: Omit<Layout, "baseline">,
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

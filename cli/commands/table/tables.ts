/**
 * Formats the rows that `table` shows.
 *
 * @module
 */

import { UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
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
import { type MetricName, METRICS } from "../../../report/table/metrics.ts";
import {
  formatMarkdown,
  formatText,
  type GridOptions,
  type Sheet,
} from "../../../report/table/sheet.ts";
import {
  type Shown,
  sidesSheet,
  tableSheet,
} from "../../../report/table/table.ts";
import { tuningSheets } from "../../../report/table/tuning_sheet.ts";
import { winsSheets } from "../../../report/table/wins_sheet.ts";
import { isOwnKernel } from "../../../session/own_kernels.ts";
import { formatWide } from "../../../report/table/wide.ts";
import { logLine } from "../../terminal/output.ts";
import {
  baselinesOf,
  type OwnBaselines,
} from "../../../session/library/baselines.ts";
import type { Chosen } from "./rows.ts";

/** The baselines and the format of tables. */
export interface Layout extends Pick<Shown, "top" | "lines" | "all"> {
  readonly baseline: string | undefined;
  /** The baselines of suites whose files were named. */
  readonly own: OwnBaselines;
  /** The sets that the rows are from, if several. */
  readonly sides: readonly string[];
  /** Kernels that rows were chosen by; empty for all. */
  readonly kernels: readonly string[];
  readonly against: readonly string[];
  readonly wins: boolean;
  /** Whether every shape that is lost is named. @default {false} */
  readonly allLosses?: boolean;
  readonly tuning: boolean;
  /** Figures to show instead of times; empty for these. */
  readonly metrics: readonly string[];
  readonly format: "text" | "md" | "csv" | "json" | "decompose-k";
}

/** Arranges `rows` as tables. @throws {UserError} For a kernel that no table has. */
export function tablesOf(
  { rows, sides, own }: Chosen,
  { baseline, against }: Pick<Layout, "baseline" | "against">,
): Pivot[] {
  if (sides.length > 0) {
    // A kernel's name ends with its set: none is the baseline of all.
    return pivots(rows, { baselines: () => [] }).filter(({ contenders }) =>
      sides.filter((side) =>
        contenders.some(({ kernel }) => kernel.endsWith(`@${side}`))
      ).length > 1
    );
  }
  const tables = pivots(rows, {
    baselines: (suite) => baselinesOf(suite, { baseline, own }),
  });
  for (
    const name of baseline === undefined ? against : [baseline, ...against]
  ) {
    if (tables.some((table) => contenderNamed(table, name))) continue;
    const names = tables.flatMap(({ contenders }) =>
      contenders.filter(({ kernel }) => kernel === name).map((c) => c.name)
    );
    const other = possible(tables, own);
    throw new UserError(
      names.length === 0
        ? `No table of ${
          tables.map(({ suite }) => suite).join(", ")
        } has kernel ${name}: it has no rows there, or at other shapes or by another timer; name another${
          other === undefined ? "" : `, such as ${other}`
        }, or choose --timer`
        : `Several runs have a kernel ${name}: name one of ${
          [...new Set(names)].join(", ")
        }`,
    );
  }
  return tables;
}

/** Returns the name of a kernel that wins could be counted against. */
function possible(
  tables: readonly Pivot[],
  own: OwnBaselines,
): string | undefined {
  const usual = tables.flatMap(({ suite, contenders }) =>
    contenders.filter(({ kernel }) =>
      baselinesOf(suite, { own }).includes(kernel)
    )
  );
  return (usual[0] ?? tables[0]?.contenders[0])?.name;
}

/**
 * Formats `tables`.
 *
 * @throws {UserError} Where there is nothing to count, and for an unknown metric.
 */
export function formatTables(
  tables: readonly Pivot[],
  layout: Layout,
  screen: GridOptions,
): string {
  const { format, wins, against, sides, baseline, own } = layout;
  const metrics = metricNames(layout);
  const options = { ...screen, told: new Set<string>() };
  const written = (sheets: readonly Sheet[]) =>
    sheets.flatMap((sheet, i) => [
      ...(i > 0 ? [""] : []),
      ...(format === "md" ? formatMarkdown(sheet) : formatText(sheet, options)),
    ]).join("\n");
  const others = ({ baseline }: Pivot) =>
    against.length > 0 ? against : baseline === undefined ? [] : [baseline];
  if (layout.tuning) {
    if (format !== "text" && format !== "md") {
      throw new UserError(
        "--tuning is for --format text and md: CSV and JSON have every time",
      );
    }
    const sheets = tables.flatMap(tuningSheets);
    if (sheets.length > 0) return written(sheets);
    throw new UserError(
      "No table has times of a library's heuristic and of its search, such as cublaslt and cublaslt-tuned: measure both, or leave out --tuning",
    );
  }
  if (format === "json") return pivotsJson(tables, others);
  if (format === "csv") {
    return (wins ? winsCsv(tables, others) : pivotsCsv(tables)).trimEnd();
  }
  const areSome = layout.kernels.length > 0;
  const shown = { ...layout, metrics, areSome, isMine: isOwnKernel };
  if (sides.length > 0) {
    return written(
      tables.map((table) =>
        sidesSheet(table, sides, {
          ...shown,
          baselines: baselinesOf(table.suite, { baseline, own }),
        })
      ),
    );
  }
  const sheets = tables.flatMap((table): Sheet[] => [
    ...(wins ? [] : [tableSheet(table, shown)]),
    ...(wins || (against.length > 0 && !metrics.includes("score"))
      ? winsSheets(table, others(table), { all: layout.allLosses })
      : []),
  ]);
  if (sheets.length === 0) {
    throw new UserError(
      against.length === 0
        ? `No table has a baseline to count wins against: name a kernel, as with --against ${
          possible(tables, own)
        }`
        : `No shape has a time both of ${
          against.join(" or ")
        } and of another kernel, so there is nothing to count: name another with --against, or leave out --wins`,
    );
  }
  return written(sheets);
}

/** @throws {UserError} For an unknown figure, and where figures cannot be shown. */
function metricNames(
  { metrics, format, wins }: Layout,
): readonly MetricName[] {
  if (metrics.length > 0 && (wins || (format !== "text" && format !== "md"))) {
    throw new UserError(
      "--metric is for --format text and md, without --wins: CSV and JSON have every figure",
    );
  }
  return metrics.map((name) => {
    const metric = METRICS.find((one) => one === name);
    if (metric !== undefined) return metric;
    throw new UserError(
      `No metric is named ${name}: there are ${METRICS.join(", ")}`,
    );
  });
}

/** Returns `rows`, of one suite, with the columns of the decompose-k measurements. */
export function wideText(rows: readonly CsvRow[]): string {
  const { csv, left } = formatWide(rows);
  const kernels = [...Map.groupBy(left, ({ kernel }) => kernel)];
  if (kernels.length > 0) {
    const list = kernels.map(([kernel, { length }]) => `${kernel} (${length})`);
    logLine(`rows without a column or without a time: ${list.join(", ")}`);
  }
  return csv.trimEnd();
}

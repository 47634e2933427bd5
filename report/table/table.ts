/**
 * Makes tables to read: points down and kernels across, or both down and figures across; and
 * tables of wins.
 *
 * @module
 */

import { padded, widthOf } from "../../bench/files/terminal_text.ts";
import { recordOf } from "../../bench/row/csv.ts";
import type { KeptRow } from "../../bench/row/csv_row.ts";
import type { Row } from "../../bench/row/row.ts";
import {
  type Contender,
  type Pivot,
  pivots,
  type PivotShape,
} from "../model/pivot.ts";
import { allWins } from "../model/wins.ts";
import {
  type Metric,
  type MetricName,
  type MetricOptions,
  metricsOf,
} from "./metrics.ts";
import { marksOf, notesOf } from "./notes.ts";
import { type Column, inTurns, leadOf, ranked } from "./rank.ts";
import {
  type Cell,
  formatText,
  type GridOptions,
  type Sheet,
} from "./sheet.ts";

/** The options of {@linkcode formatTable}. */
export interface TableOptions extends GridOptions {
  /** Kernels that speed-ups are relative to, the preferred first, by suite. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/** Returns the lines of a table for each suite and device of rows that were just measured. */
export function formatTable(
  rows: readonly Row[],
  { baselines, ...screen }: TableOptions,
): string[] {
  const kept = rows.filter((row): row is KeptRow => row.status !== "checked");
  const tables = pivots(kept.map(recordOf), {
    baselines: (suite) => baselines[suite] ?? [],
  });
  return tables.flatMap((table, i) => [
    ...(i > 0 ? [""] : []),
    ...formatText(tableSheet(table), screen),
  ]);
}

/** The kernels, shapes and figures of a {@linkcode tableSheet}. */
export interface Shown extends MetricOptions {
  /** The figures: of several, each is a column and each kernel a line. @default {us} */
  readonly metrics?: readonly MetricName[];
  /** Shows only so many kernels, those that are ranked first. @default {all} */
  readonly top?: number | undefined;
  /** Shows only so many shapes, evenly spread; means are over all. @default {all} */
  readonly lines?: number | undefined;
  /** Keeps kernels that are too many for the screen. @default {false} */
  readonly all?: boolean;
}

/**
 * Returns `table` with a line for each point and a column for each kernel that ran: the baseline,
 * then peers, our own and published ones, of each the fastest first.
 */
export function tableSheet(table: Pivot, shown: Shown = {}): Sheet {
  const { metrics: names = [], top, lines, all = false } = shown;
  const groups = ranked(table);
  const order = inTurns(groups).slice(0, top);
  const contenders = groups.flat().filter((one) => order.includes(one));
  const metrics = metricsOf(table, names.length > 0 ? names : ["us"], shown);
  const [metric] = metrics;
  const marks = marksOf(table);
  const columns: Column[] = contenders.map(({ name }) => ({
    head: `${name}${marks.get(name)}`,
    cellOf: (shape) => metric!.cellOf(shape, name),
    meanOf: (shapes) => metric!.meanOf(shapes, name),
  }));
  const lead = leadOf(table);
  const withLead = lead !== undefined &&
    ["us", "speedup"].includes(metric!.name);
  const ranks = order.map((one) => 1 + contenders.indexOf(one));
  const body = thinned(table.shapes, lines);
  const notes = notesOf(table, { contenders, metrics });
  if (metrics.length > 1) {
    return linesSheet({ table, contenders, metrics, body, notes });
  }
  return {
    ...columnsSheet(table, body, {
      head: metric!.head,
      meanHead: metric!.meanHead,
      columns: withLead ? [...columns, lead] : columns,
    }),
    notes,
    ...(all || top !== undefined ? {} : {
      // Its column says more than a fourth kernel.
      ranked: withLead ? ranks.toSpliced(3, 0, columns.length + 1) : ranks,
    }),
  };
}

/** Returns a line for each of the shapes `body`, and one of means over all. */
function columnsSheet(
  table: Pivot,
  body: readonly PivotShape[],
  { head, meanHead, columns }: {
    readonly head: string;
    readonly meanHead: string;
    readonly columns: readonly Column[];
  },
): Omit<Sheet, "notes"> {
  return {
    title: titleOf(table),
    head: [head, ...columns.map((column) => column.head)],
    body: body.map((shape) => [
      { text: shape.label },
      ...columns.map((column) => column.cellOf(shape)),
    ]),
    foot: meanHead === "" ? [] : [[
      { text: meanHead },
      ...columns.map((column) => column.meanOf(table.shapes)),
    ]],
  };
}

/** Returns a line for each kernel at each of the shapes `body`, and a column for each metric. */
function linesSheet({ table, contenders, metrics, body, notes }: {
  readonly table: Pivot;
  readonly contenders: readonly Contender[];
  readonly metrics: readonly Metric[];
  readonly body: readonly PivotShape[];
  readonly notes: readonly string[];
}): Sheet {
  const width = Math.max(...body.map(({ label }) => widthOf(label)), 5);
  const labelled = (label: string, name: string): Cell => ({
    text: `${padded(label, width)}  ${name}`,
  });
  return {
    title: titleOf(table),
    head: [
      labelled("shape", "kernel").text,
      ...metrics.map(({ head }) => head),
    ],
    body: body.flatMap((shape) =>
      contenders.filter(({ name }) => shape.rows.has(name)).map(({ name }) => [
        labelled(shape.label, name),
        ...metrics.map((metric) => metric.cellOf(shape, name)),
      ])
    ),
    foot: contenders.map(({ name }) => [
      labelled("mean", name),
      ...metrics.map((metric) =>
        metric.name === "us" ? { text: "" } : metric.meanOf(table.shapes, name)
      ),
    ]),
    notes,
  };
}

/** Returns `count` of `shapes`, the first and the last among them, evenly spread. */
function thinned(
  shapes: readonly PivotShape[],
  count = shapes.length,
): readonly PivotShape[] {
  if (count >= shapes.length) return shapes;
  const step = (shapes.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, i) => shapes[Math.round(i * step)]!);
}

/** Returns one table of wins, ties and losses for each of `against` that `table` has. */
export function winsSheets(table: Pivot, against: readonly string[]): Sheet[] {
  const marks = marksOf(table);
  const own = allWins(table, against);
  return [...Map.groupBy(own, (wins) => wins.against)].map(([other, all]) => ({
    title: `${titleOf(table)}: how many times as fast as ${other}${
      marks.get(other) ?? ""
    }`,
    head: ["kernel", "wins/ties/losses", "min", "median", "max", "geomean"],
    body: all.map((wins): Cell[] => [
      { text: `${wins.kernel}${marks.get(wins.kernel) ?? ""}` },
      { text: `${wins.wins}/${wins.ties}/${wins.losses}` },
      ...[wins.min, wins.median, wins.max, wins.geomean].map((factor) => ({
        text: factor!.toFixed(3),
      })),
    ]),
    foot: [],
    notes: all.flatMap(({ kernel, missing, suspect }) => {
      const of = `of ${table.shapes.length} shapes`;
      const without = missing - suspect;
      return [
        ...(without === 0 ? [] : [
          `${kernel}: ${without} ${of} are not measured for it or ${other}, and not counted`,
        ]),
        ...(suspect === 0 ? [] : [
          `${kernel}: at ${suspect} ${of} it or ${other} is above SOL, and not counted`,
        ]),
      ];
    }),
  }));
}

/** Returns the title of `table`. */
export function titleOf({ suite, device }: Pivot): string {
  return device === "" ? suite : `${suite} on ${device}`;
}

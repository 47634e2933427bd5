/**
 * Makes tables to read: points down and kernels across, or both down and figures across; and
 * tables of wins.
 *
 * @module
 */

import { recordOf } from "../../bench/row/csv.ts";
import type { KeptRow } from "../../bench/row/csv_row.ts";
import type { Row } from "../../bench/row/row.ts";
import {
  type Contender,
  type Pivot,
  pivots,
  type PivotShape,
} from "../model/pivot.ts";
import { inTurns, ranked } from "../model/rank.ts";
import { allWins } from "../model/wins.ts";
import {
  factorMetric,
  type Metric,
  type MetricName,
  type MetricOptions,
  metricsOf,
} from "./metrics.ts";
import { marksOf, notesOf } from "./notes.ts";
import { type Column, leadOf } from "./lead.ts";
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
  const legend = metrics.find((one) => one.legend)?.legend;
  const notes = notesOf(table, {
    ...{ contenders, metrics },
    areSome: top !== undefined,
  });
  if (metrics.length > 1) {
    const kernels = contenders.map(({ name }) => name);
    const figures = besideFirst(metrics);
    return { ...linesSheet(table, body, { kernels, figures }), notes, legend };
  }
  return {
    ...columnsSheet(table, body, {
      head: metric!.head,
      meanHead: metric!.meanHead,
      columns: withLead ? [...columns, lead] : columns,
    }),
    notes,
    legend,
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

/** Figures by kernel: a metric, or one of a set. */
type Figures = Pick<Metric, "name" | "head" | "cellOf" | "meanOf">;

/** Returns a line for each kernel at each of the shapes `body`, and a column for each figure. */
function linesSheet(table: Pivot, body: readonly PivotShape[], {
  kernels,
  figures,
}: {
  readonly kernels: readonly string[];
  readonly figures: readonly Figures[];
}): Omit<Sheet, "notes"> {
  return {
    title: titleOf(table),
    labels: 2,
    head: ["shape", "kernel", ...figures.map(({ head }) => head)],
    body: body.flatMap((shape) =>
      kernels.flatMap((name) => {
        const cells = figures.map((figure) => figure.cellOf(shape, name));
        return cells.every(({ text }) => text === "")
          ? []
          : [[{ text: shape.label }, { text: name }, ...cells]];
      })
    ),
    foot: kernels.map((name) => [
      { text: "mean" },
      { text: name },
      ...figures.map((figure) =>
        figure.name === "us" ? { text: "" } : figure.meanOf(table.shapes, name)
      ),
    ]),
  };
}

/** Returns `metrics` with the stars and the failures of kernels only in the first. */
function besideFirst(metrics: readonly Metric[]): Metric[] {
  return metrics.map((metric, i): Metric =>
    i === 0 ? metric : {
      ...metric,
      cellOf(shape, name) {
        const { paint, ...cell } = metric.cellOf(shape, name);
        return paint === "bad" || paint === "dim" ? { text: "" } : cell;
      },
    }
  );
}

/**
 * Returns the kernels of several sets side by side: a line for each at each shape, the figures of
 * each set, and how many times as fast the last set is as the first.
 *
 * @param table Its kernels are called after their sets too, as `kernel@set`.
 */
export function sidesSheet(
  table: Pivot,
  sides: readonly string[],
  { metrics = [], top, lines, baselines, ...options }: Shown & {
    /** Kernels that speed-ups are relative to, the preferred first. */
    readonly baselines: readonly string[];
  },
): Sheet {
  const sideOf = ({ kernel }: Contender) =>
    sides.find((side) => kernel.endsWith(`@${side}`)) ?? "";
  const kernelOf = (one: Contender) => one.name.replace(`@${sideOf(one)}`, "");
  const names = new Map(
    table.contenders.map((one) =>
      [`${kernelOf(one)}@${sideOf(one)}`, one.name] as const
    ),
  );
  const nameAt = (kernel: string, side: string) =>
    names.get(`${kernel}@${side}`) ?? "";
  const ofSide = (side: string): Pivot => {
    const baseline = baselines.map((name) => nameAt(name, side))
      .find((name) => name !== "");
    return { ...table, baseline };
  };
  const figures = sides.flatMap((side) =>
    besideFirst(
      metricsOf(ofSide(side), metrics.length > 0 ? metrics : ["us"], options),
    ).map((metric): Metric => ({
      ...metric,
      head: `${side} ${metric.head.replace(`@${side}`, "")}`,
      cellOf(shape, name) {
        const cell = metric.cellOf(shape, nameAt(name, side));
        return cell.paint === "best" ? { ...cell, paint: "plain" } : cell;
      },
      meanOf: (shapes, name) => metric.meanOf(shapes, nameAt(name, side)),
    }))
  );
  const [first, last] = [sides[0]!, sides.at(-1)!];
  const change = factorMetric(
    `${last} vs ${first}`,
    (_, name) => [nameAt(name, last), nameAt(name, first)],
  );
  const contenders = inTurns(ranked(ofSide(last)));
  return {
    ...linesSheet(table, thinned(table.shapes, lines), {
      kernels: [...new Set(contenders.map(kernelOf))].slice(0, top),
      figures: [...figures, change],
    }),
    legend: figures[0]!.legend,
    notes: [
      `${last} vs ${first}: how many times as fast; \`diff\` judges it`,
      ...notesOf(table, {
        contenders,
        metrics: figures.slice(0, metrics.length || 1),
        areSets: true,
      }),
    ],
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

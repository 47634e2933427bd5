/**
 * Makes tables of text: a line for each shape and a column for each kernel, or a line for each kernel
 * at each shape and a column for each figure.
 *
 * @module
 */

import { recordOf } from "../../bench/row/csv.ts";
import type { CsvRow, KeptRow } from "../../bench/row/csv_row.ts";
import type { Row } from "../../bench/row/row.ts";
import {
  type Contender,
  type Pivot,
  pivots,
  type PivotShape,
} from "../model/pivot.ts";
import { inTurns, ranked } from "../model/rank.ts";
import { soundTimeOf } from "../model/sol.ts";
import {
  factorMetric,
  type Metric,
  type MetricName,
  type MetricOptions,
  metricsOf,
  unmarkedNotes,
} from "./metrics.ts";
import { marksOf, notesOf } from "./notes.ts";
import {
  type Cell,
  formatText,
  type GridOptions,
  type Sheet,
} from "./sheet.ts";

/** The options of {@linkcode formatTable}. */
export interface TableOptions
  extends GridOptions, Pick<Shown, "isMine" | "areSome"> {
  /** The baselines of each suite by its name, in the order of preference. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
}

/** Formats a table for each suite and device of rows that were just measured. @returns Its lines. */
export function formatTable(
  rows: readonly Row[],
  { baselines, isMine, areSome, ...screen }: TableOptions,
): string[] {
  const kept = rows.filter((row): row is KeptRow => row.status !== "checked");
  const tables = pivots(kept.map(recordOf), {
    baselines: (suite) => baselines[suite] ?? [],
  });
  return tables.flatMap((table, i) => [
    ...(i > 0 ? [""] : []),
    ...formatText(tableSheet(table, { isMine, areSome }), screen),
  ]);
}

/** The kernels, shapes and figures of a {@linkcode tableSheet}. */
export interface Shown extends MetricOptions {
  /** The figures. Several are shown as columns, with a line for each kernel. @default {us} */
  readonly metrics?: readonly MetricName[];
  /** The number of kernels to show: the baseline and the user's kernels come first. @default {all} */
  readonly top?: number | undefined;
  /** The number of shapes to show, evenly spread. Means are over all shapes. @default {all} */
  readonly lines?: number | undefined;
  /** Whether kernels are shown that do not fit the screen. @default {false} */
  readonly all?: boolean;
  /** Whether a row is of a kernel of the user's own. @default {none is} */
  readonly isMine?: ((row: CsvRow) => boolean) | undefined;
  /** Whether an option left out rows of other kernels. @default {false} */
  readonly areSome?: boolean | undefined;
}

/**
 * Returns `table` with a line for each shape and a column for each kernel that ran. The baseline comes
 * first, then peers, our kernels and published ones, the fastest of each group first. If not all
 * columns fit, or `top` is given, the baseline and the user's kernels are kept before others.
 */
export function tableSheet(table: Pivot, shown: Shown = {}): Sheet {
  const { metrics: names = [], top, lines, all = false } = shown;
  const { isMine = () => false, areSome } = shown;
  const mine = table.contenders.filter(({ name, published }) =>
    !published &&
    table.shapes.some(({ rows }) => rows.has(name) && isMine(rows.get(name)!))
  );
  const groups = ranked(table);
  const [first, others] = [groups[0]!, inTurns(groups.with(0, []))];
  const order = [
    ...first,
    ...others.filter((one) => mine.includes(one)),
    ...others.filter((one) => !mine.includes(one)),
  ].slice(0, top);
  const contenders = groups.flat().filter((one) => order.includes(one));
  const metrics = metricsOf(table, names.length > 0 ? names : ["us"], shown)
    .map((metric) => contenders.length > 1 ? metric : unstarred(metric));
  const [metric] = metrics;
  const marks = marksOf(table);
  const columns: Column[] = contenders.map(({ name }) => ({
    head: `${name}${marks.get(name)}`,
    cellOf: (shape) => metric!.cellOf(shape, name),
    meanOf: (shapes) => metric!.meanOf(shapes, name),
  }));
  const lead = leadOf(table, mine);
  const withLead = lead !== undefined &&
    ["us", "speedup"].includes(metric!.name);
  const ranks = order.map((one) => 1 + contenders.indexOf(one));
  const body = thinned(table.shapes, lines);
  const legend = metrics.find((one) => one.legend)?.legend;
  const star = areSome ? "fastest of those shown" : undefined;
  const notes = [
    ...(contenders.length > 1 && metrics.some(({ name }) => name === "us")
      ? unmarkedNotes(body, contenders)
      : []),
    ...notesOf(table, { contenders, metrics, areSome: top !== undefined }),
  ];
  if (metrics.length > 1) {
    const kernels = contenders.map(({ name }) => name);
    const figures = besideFirst(metrics);
    return {
      ...linesSheet(table, body, { kernels, figures }),
      notes,
      legend,
      star,
    };
  }
  return {
    ...columnsSheet(table, body, {
      head: metric!.head,
      meanHead: metric!.meanHead,
      columns: withLead ? [...columns, lead] : columns,
    }),
    notes,
    legend,
    star,
    ...(all || top !== undefined ? {} : {
      // If few columns fit, the comparison is kept before the fourth kernel.
      ranked: withLead ? ranks.toSpliced(3, 0, columns.length + 1) : ranks,
    }),
  };
}

/** Returns a line for each shape of `body`, and a line of means over all shapes of `table`. */
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

/** A figure of each kernel: a metric, or a metric in one of several sets. */
type Figures = Pick<Metric, "name" | "head" | "cellOf" | "meanOf">;

/** Returns a line for each kernel at each shape of `body`, and a column for each figure. */
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

/** Returns `metric` without stars, which say nothing in a table of one kernel. */
function unstarred(metric: Metric): Metric {
  return {
    ...metric,
    cellOf(shape, name) {
      const cell = metric.cellOf(shape, name);
      return cell.paint === "best" ? { ...cell, paint: "plain" } : cell;
    },
  };
}

/** Returns `metrics`, changed so that only the first has stars and the status of failed rows. */
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
 * Returns several sets of rows side by side: a line for each kernel at each shape, with the figures
 * of each set and how many times as fast the last set is as the first.
 *
 * @param table Its kernels are named with their sets, as `kernel@set`.
 */
export function sidesSheet(
  table: Pivot,
  sides: readonly string[],
  { metrics = [], top, lines, baselines, ...options }: Shown & {
    /** The baselines, in the order of preference. */
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
    const baseline = baselines.map((name) => nameAt(name, side)).find((name) =>
      table.shapes.some(({ rows }) => soundTimeOf(rows.get(name)) !== undefined)
    );
    return { ...table, baseline };
  };
  const figures = sides.flatMap((side) =>
    besideFirst(
      metricsOf(
        {
          ...ofSide(side),
          contenders: table.contenders.filter((one) => sideOf(one) === side),
        },
        metrics.length > 0 ? metrics : ["us"],
        options,
      ),
    ).map((metric): Metric => ({
      ...metric,
      head: `${side} ${metric.head.replace(`@${side}`, "")}`,
      notes: metric.notes.map((note) =>
        note.includes(`@${side}`)
          ? `${note.replaceAll(`@${side}`, "")} of the same set`
          : note
      ),
      cellOf: (shape, name) =>
        unstarred(metric).cellOf(shape, nameAt(name, side)),
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

/** Returns `count` of `shapes`, evenly spread from the first to the last. */
function thinned(
  shapes: readonly PivotShape[],
  count = shapes.length,
): readonly PivotShape[] {
  if (count >= shapes.length) return shapes;
  const step = (shapes.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, i) => shapes[Math.round(i * step)]!);
}

/** Returns the title of `table`. */
export function titleOf({ suite, device }: Pivot): string {
  return device === "" ? suite : `${suite} on ${device}`;
}

/** A column: its head, a cell for each shape, and the cell of their mean. */
export interface Column {
  readonly head: string;
  cellOf(shape: PivotShape): Cell;
  meanOf(shapes: readonly PivotShape[]): Cell;
}

/**
 * Returns the last column, which compares the fastest kernels of two groups at each shape. The groups
 * are the first of these that both have kernels with times:
 *
 * - the user's kernels, and all others;
 * - our kernels, and the peers;
 * - all other kernels, and the baseline.
 *
 * @param mine The user's kernels. If there are some and none has a time, there is no such column.
 */
function leadOf(
  { contenders, shapes, baseline }: Pivot,
  mine: readonly Contender[],
): Column | undefined {
  const measured = contenders.filter(({ published }) => !published);
  const all = (measured.length > 0 ? measured : contenders).filter(({ name }) =>
    shapes.some(({ rows }) => soundTimeOf(rows.get(name)) !== undefined)
  );
  const others = all.filter((one) => !mine.includes(one));
  const peers = all.filter(({ peer }) => peer);
  const [title, rivals] = mine.length > 0 && others.length > 0
    ? [`${mine.length === 1 ? mine[0]!.name : "own"} vs best other`, others]
    : peers.length > 0 && peers.length < all.length
    ? ["ours vs best peer", peers]
    : [`fastest vs ${baseline}`, all.filter(({ name }) => name === baseline)];
  const own = all.filter((one) => !rivals.includes(one));
  if (own.length === 0 || rivals.length === 0) return undefined;
  const { head, cellOf, meanOf } = factorMetric(
    title,
    (shape) => [fastest(shape, own), fastest(shape, rivals)],
  );
  return {
    head,
    cellOf: (shape) => cellOf(shape, ""),
    meanOf: (shapes) => meanOf(shapes, ""),
  };
}

function fastest(
  { rows }: PivotShape,
  of: readonly Contender[],
): string | undefined {
  const time = ({ name }: Contender) => soundTimeOf(rows.get(name)) ?? Infinity;
  return of.toSorted((a, b) => time(a) - time(b))[0]?.name;
}

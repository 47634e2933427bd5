/**
 * The rows of one suite on one device, and charts of them as data.
 *
 * @module
 */

import type { Calibration } from "../../bench/measure/figures.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import {
  type Contender,
  type Pivot,
  type PivotRow,
  pivots,
  type PivotShape,
} from "../model/pivot.ts";
import { type Range, rangeOf, type RangeOptions } from "./axes.ts";
import { isShown } from "../model/rank.ts";
import {
  isAboveSol,
  isRemembered,
  isSuspect,
  soundTimeOf,
  timeOf,
} from "../model/sol.ts";
import type { CurveChart, Series } from "./curves.ts";
import { type KernelStyle, type LegendEntry, paletteOf } from "./palette.ts";
import { axisName, type Panel, type Panels } from "./panels.ts";
import type { Theme, ThemeName } from "./theme.ts";

/** The data of the pictures of a suite. */
export interface ChartData {
  readonly pivot: Pivot;
  /** The suite's title, or its name if it is no built-in suite. */
  readonly title: string;
  readonly rows: readonly CsvRow[];
  /** The names of the pivot's contenders, in the order of the rows. */
  readonly kernels: readonly string[];
  readonly looks: ReadonlyMap<string, KernelStyle>;
  /** Whether the user named the kernels. Every picture then shows all of them. */
  readonly chosen: boolean;
  /** The names of all baselines. Speed-ups are relative to one of them, `pivot.baseline`. */
  readonly baselines: readonly string[];
  /** The launch overhead, load curve and peaks that were measured on the device. */
  readonly calibration?: Calibration;
  /** Returns samples in nanoseconds, a list for each repeat. */
  readonly samples: (row: CsvRow) => readonly (readonly number[])[];
}

/** What the rows do not tell. */
interface ChartOptions
  extends Partial<Pick<ChartData, "title" | "calibration" | "samples">> {
  readonly theme: ThemeName;
  /**
   * The baselines in the order of preference. The first with a time is taken; those in `only` come
   * first.
   */
  readonly baselines?: readonly string[];
  /** The baseline to take instead of the first of `baselines` with a time. */
  readonly baseline?: string;
  /**
   * Kernels of other pictures. A kernel has the same colour in these and in the others.
   *
   * @default {none}
   */
  readonly others?: readonly string[];
  /** The kernels that the user named. @default {each that has a time or failed} */
  readonly only?: readonly string[];
}

/** Arranges `rows`, all of one suite and device, and at least one. */
export function chartData(
  rows: readonly CsvRow[],
  options: ChartOptions,
): ChartData {
  const { theme, baseline, others = [], only = [] } = options;
  const { title, calibration, samples } = options;
  const usual = options.baselines ?? [];
  const candidates = baseline === undefined
    ? [...usual.filter((name) => only.includes(name)), ...usual]
    : [baseline];
  const baselines = [...new Set([...candidates, ...usual])];
  const [pivot] = pivots(rows, { baselines: () => candidates });
  const { contenders } = pivot!;
  const all = contenders.map(({ name }) => name);
  // Leave out kernels that are unsupported at every shape: they would be drawn as crosses only.
  const shown = contenders.filter((one) =>
    only.length > 0 ? isNamed(one, only) : isShown(pivot!, one)
  );
  const own = contenders.map(({ kernel }) => kernel);
  return {
    pivot: pivot!,
    title: title ?? pivot!.suite,
    rows,
    kernels: shown.map(({ name }) => name),
    looks: paletteOf(
      [...all, ...others.filter((name) => !own.includes(name))],
      theme,
    ),
    baselines,
    chosen: only.length > 0,
    ...(calibration && { calibration }),
    samples: samples ?? (() => []),
  };
}

/** Why there is no picture that compares times. */
export const NO_TIMES = "no case has a time";

/** Returns whether a kernel of the pictures has a time that is not suspect. */
export function hasTimes(
  { pivot: { shapes }, kernels }: Pick<ChartData, "pivot" | "kernels">,
): boolean {
  return shapes.some((shape) => ranked(shape, kernels).length > 0);
}

/** Returns why a picture of speed-ups cannot be drawn without a baseline. */
export function withoutBaseline(
  data: Pick<ChartData, "pivot" | "kernels">,
): string {
  return hasTimes(data)
    ? "no baseline has a time; --baseline NAME takes another kernel"
    : NO_TIMES;
}

function isNamed(
  { name, kernel }: Contender,
  only: readonly string[],
): boolean {
  return only.includes(name) || only.includes(kernel);
}

/** A contender and its time in microseconds. */
export interface Ranked {
  readonly kernel: string;
  readonly us: number;
}

/** The columns that a chart of latencies reads. */
type CurveRow =
  & PivotRow
  & Readonly<Record<"q1_us" | "q3_us" | "sol_us", string>>;

/** The name of the curve of the speed of light. */
const LIGHT = "speed of light";

/** Returns those of `kernels` with a time at `shape` that is not suspect, fastest first. */
export function ranked(
  shape: PivotShape,
  kernels: readonly string[],
): Ranked[] {
  return kernels.flatMap((kernel): Ranked[] => {
    const us = soundTimeOf(shape.rows.get(kernel));
    return us === undefined ? [] : [{ kernel, us }];
  }).toSorted((a, b) => a.us - b.us);
}

/** Returns the labels of shapes, or only their sizes where these tell the shapes apart. */
export function shapeNames(
  shapes: readonly { readonly label: string }[],
): string[] {
  const labels = shapes.map(({ label }) => label);
  const sizes = labels.map((label) => label.split(" ")[0]!);
  return new Set(sizes).size === sizes.length ? sizes : labels;
}

/** Returns the text of a cell without a time: the row's status, or that there is no row. */
export function statusOf(row: CsvRow | undefined): string {
  if (row === undefined) return "no row";
  if (isAboveSol(row)) return "above SOL";
  if (isRemembered(row)) return "suspect";
  return row.status === "ok" ? "no time" : row.status;
}

/** Returns what a picture of comparisons says of the rows that it leaves out; empty without any. */
export function suspectNote({ rows }: Pick<ChartData, "rows">): string {
  const suspect = rows.filter(isSuspect).length;
  return suspect === 0 ? "" : `; ${suspect} suspect left out`;
}

/**
 * Returns microseconds as labels have them.
 *
 * @example
 * ```ts
 * import { formatUs } from "./data.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatUs(8.4801), "8.48 µs");
 * strictEqual(formatUs(12345.6), "12.35 ms");
 * ```
 */
export function formatUs(us: number): string {
  const [value, unit] = us < 10_000 ? [us, "µs"] : [us / 1000, "ms"];
  const digits = value < 100 ? 2 : value < 1000 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}

/**
 * Returns the range of every time at `shapes` and of the speed of light there; undefined
 * without any.
 *
 * @param options `also`: other values that must be within.
 */
export function latencyRange(
  shapes: readonly Pick<PivotShape<CurveRow>, "rows">[],
  { also = [], ...options }: RangeOptions & {
    readonly also?: readonly number[];
  } = {},
): Range | undefined {
  const values = shapes.flatMap(({ rows }) =>
    [...rows.values()].flatMap((row) => {
      const us = timeOf(row);
      const sol = row.sol_us === "" ? [] : [Number(row.sol_us)];
      return us === undefined ? sol : [us, ...spanOf(row) ?? [], ...sol];
    })
  );
  values.push(...also);
  return values.length > 0 ? rangeOf(values, options) : undefined;
}

/** Returns the legend of `kernels`, the speed of light last where `shapes` have it. */
export function legendOf(
  shapes: readonly Pick<PivotShape<CurveRow>, "rows">[],
  { kernels, looks, theme }: {
    readonly kernels: readonly string[];
    readonly looks: ReadonlyMap<string, KernelStyle>;
    readonly theme: Theme;
  },
): LegendEntry[] {
  const lit = shapes.some(({ rows }) =>
    [...rows.values()].some(({ sol_us }) => sol_us !== "")
  );
  return [
    ...kernels.map((name) => ({ name, ...looks.get(name)! })),
    ...(lit ? [{ name: LIGHT, color: theme.dim, width: 1.2 }] : []),
  ];
}

/** Returns the charts of latency over the axis of `panels`, one a panel. */
export function latencyCharts<S extends PivotShape<CurveRow>>(
  { axis, panels }: Panels<S>,
  { legend, rangeOf }: {
    readonly legend: readonly LegendEntry[];
    readonly rangeOf: (panel: Panel<S>) => Range;
  },
): CurveChart[] {
  return panels.map(({ label, items }): CurveChart => ({
    title: label,
    categories: axis === undefined
      ? shapeNames(items)
      : items.map(({ point }) => point[axis]!),
    categoryTitle: axis === undefined ? "" : axisName(axis),
    valueTitle: "latency (µs)",
    range: rangeOf({ label, items }),
    joined: axis !== undefined,
    series: legend.map((entry) => seriesOf(items, entry)),
  }));
}

function seriesOf(
  shapes: readonly Pick<PivotShape<CurveRow>, "rows">[],
  entry: LegendEntry,
): Series {
  if (entry.mark === undefined) {
    const values = shapes.map(({ rows }) => {
      const lit = [...rows.values()].find(({ sol_us }) => sol_us !== "");
      return lit === undefined ? undefined : Number(lit.sol_us);
    });
    return { ...entry, values };
  }
  const own = shapes.map(({ rows }) => rows.get(entry.name));
  const values = own.map(timeOf);
  return {
    ...entry,
    values,
    spans: own.map(spanOf),
    failed: own.map((row) => row !== undefined && timeOf(row) === undefined),
  };
}

function spanOf(
  row: CurveRow | undefined,
): readonly [number, number] | undefined {
  if (timeOf(row) === undefined || row!.q1_us === "" || row!.q3_us === "") {
    return undefined;
  }
  return [Number(row!.q1_us), Number(row!.q3_us)];
}

/**
 * Defines the figures of tables: times, rates, shares of the speed of light (SOL), speed-ups.
 *
 * @module
 */

import { geomean, mean } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isNoisyRow } from "../model/noise.ts";
import { type Pivot, type PivotShape, speedup } from "../model/pivot.ts";
import { isSuspect, soundTimeOf, SUSPECT_MARK, timeOf } from "../model/sol.ts";
import type { Cell } from "./sheet.ts";

/** The names of the figures. */
export const METRICS = [
  ...["us", "tflops", "gbps", "sol", "score", "speedup"],
] as const;

/** One of {@linkcode METRICS}. */
export type MetricName = typeof METRICS[number];

/** Options of figures. */
export interface MetricOptions {
  /** The kernels that SOL scores are relative to. @default {the baseline and PyTorch's kernels} */
  readonly against?: readonly string[];
}

/** A figure that each kernel has at each shape of a table. */
export interface Metric {
  readonly name: string;
  /** The name of the figure, with its unit. */
  readonly head: string;
  /** The label of the line of means. */
  readonly meanHead: string;
  /** Notes that explain the figure. */
  readonly notes: readonly string[];
  /** The meaning of the small text beside each figure. @default {there is none} */
  readonly legend?: string;
  /**
   * Returns the figure of the contender `name`; undefined if it has none, or if its time is
   * suspect.
   */
  valueOf(shape: PivotShape, name: string): number | undefined;
  /** Returns the cell of the contender `name`: its figure, or why there is none. */
  cellOf(shape: PivotShape, name: string): Cell;
  /** Returns the cell of the mean over `shapes`, which is empty if no shape has a figure. */
  meanOf(shapes: readonly PivotShape[], name: string): Cell;
}

/**
 * Formats a figure with four significant digits.
 *
 * @example
 * ```ts
 * import { formatMicroseconds } from "./metrics.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatMicroseconds(8.6134), "8.613");
 * strictEqual(formatMicroseconds(86134.2), "86134");
 * strictEqual(formatMicroseconds(9.99951), "10.00");
 * ```
 */
export function formatMicroseconds(value: number): string {
  // 9.9996 has two digits before the point once it is rounded.
  const rounded = Number(value.toPrecision(4));
  const whole = Math.max(1, `${Math.floor(rounded)}`.length);
  return value.toFixed(Math.max(0, 4 - whole));
}

/**
 * Formats a rate with at least three significant digits: small GEMMs on a CPU reach thousandths of a
 * TFLOP/s.
 *
 * @example
 * ```ts
 * import { formatRate } from "./metrics.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(formatRate(0.3731), "0.373");
 * strictEqual(formatRate(0.0052683), "0.00527");
 * ```
 */
export function formatRate(value: number): string {
  return value < 0.1 ? value.toPrecision(3) : formatMicroseconds(value);
}

/** Returns the figures `names` of `table`, in that order. */
export function metricsOf(
  table: Pivot,
  names: readonly MetricName[],
  options: MetricOptions = {},
): Metric[] {
  return names.map((name) => MAKERS[name](table, options));
}

type Maker = (table: Pivot, options: MetricOptions) => Metric;

const MAKERS: Readonly<Record<MetricName, Maker>> = {
  us: timeMetric,
  tflops: () => rate("tflops", "TFLOP/s"),
  gbps: () => rate("gbps", "GB/s"),
  sol: (table) =>
    metric({
      name: "sol",
      head: "share of SOL",
      notes: unboundNotes(table),
      format: (share) => `${(100 * share).toFixed(1)} %`,
      valueOf({ rows }, name) {
        const [time, sol] = [
          soundTimeOf(rows.get(name)),
          solOf(rows.get(name)),
        ];
        return time === undefined || sol === undefined ? undefined : sol / time;
      },
    }),
  score: scoreMetric,
  speedup: ({ baseline }) =>
    factorMetric(`speed-up vs ${baseline}`, (_, name) => [name, baseline]),
};

/** Makes a metric of `valueOf`, `format` and `average`. */
function metric({
  format,
  pairOf = (_, name) => [name, undefined],
  average = geomean,
  ...own
}: {
  readonly name: string;
  readonly head: string;
  readonly notes?: readonly string[];
  readonly format: (value: number) => string;
  readonly valueOf: Metric["valueOf"];
  /** The contenders whose rows a figure is computed from. If one is noisy, so is the figure. */
  readonly pairOf?: (shape: PivotShape, name: string) => Pair;
  readonly average?: (values: readonly number[]) => number | undefined;
}): Metric {
  const marked = (value: number | undefined, noisy: boolean): Cell => ({
    text: value === undefined ? "" : `${noisy ? "~" : ""}${format(value)}`,
    beside: "",
  });
  return {
    meanHead: average === geomean ? "geomean" : "mean",
    notes: [],
    ...own,
    cellOf(shape, name) {
      const value = own.valueOf(shape, name);
      if (value === undefined) return lackOf(shape, name);
      const paint = name === shape.best ? "best" : "plain";
      return {
        ...marked(value, isNoisyPair(shape, pairOf(shape, name))),
        paint,
      };
    },
    meanOf(shapes, name) {
      const found = shapes.flatMap((shape) => own.valueOf(shape, name) ?? []);
      const noisy = shapes.some((shape) =>
        own.valueOf(shape, name) !== undefined &&
        isNoisyPair(shape, pairOf(shape, name))
      );
      return marked(found.length > 0 ? average(found) : undefined, noisy);
    },
  };
}

/**
 * Returns a cell with the status of a row without a time. Without a row, or for a row with a time,
 * it is empty.
 */
function lackOf({ rows }: PivotShape, name: string): Cell {
  const row = rows.get(name);
  if (row === undefined || timeOf(row) !== undefined) return { text: "" };
  const paint = row.status === "unsupported" ? "dim" : "bad";
  return { text: row.status, paint };
}

/**
 * Returns whether one of two rows is noisy. A kernel compared with itself is 1.00x, and never
 * noisy.
 */
function isNoisyPair(
  { rows }: PivotShape,
  [name, other]: Pair,
): boolean {
  return name !== other && [name, other].some((one) => {
    const row = rows.get(one ?? "");
    return row !== undefined && isNoisyRow(row);
  });
}

/** Makes the metric of times with their spread. Its line of means has speed-ups over the baseline. */
function timeMetric(table: Pivot, options: MetricOptions): Metric {
  const { shapes, contenders, baseline } = table;
  const timed = shapes.flatMap(({ rows }) => [...rows.values()])
    .filter((row) => timeOf(row) !== undefined);
  const means = timed.length > 0 && timed.every((row) => row.median_us === "");
  const hasSpread = contenders.some(({ name, published }) =>
    !published && shapes.some(({ rows }) => spreadOf(rows.get(name)) !== "")
  );
  return {
    name: "us",
    head: means ? "mean µs" : "median µs",
    meanHead: baseline === undefined ? "" : `geomean vs ${baseline}`,
    notes: [],
    legend: hasSpread
      ? "± half the interquartile range, in % of the median"
      : "",
    valueOf: ({ rows }, name) => timeOf(rows.get(name)),
    cellOf(shape, name) {
      const row = shape.rows.get(name);
      const us = timeOf(row);
      if (row === undefined || us === undefined) return lackOf(shape, name);
      const noisy = isNoisyRow(row) ? "~" : "";
      const mark = isSuspect(row) ? SUSPECT_MARK : "";
      const isBest = name === shape.best && !isSpread(row);
      const paint = isBest ? "best" : "plain";
      const text = `${noisy}${formatMicroseconds(us)}${mark}`;
      return { text, beside: spreadOf(row), paint };
    },
    meanOf: MAKERS.speedup(table, options).meanOf,
  };
}

/** The largest spread, in percent of the median, of a row that gets a star as the fastest. */
const MOST_SPREAD = 100;

function isSpread(row: CsvRow | undefined): boolean {
  return halfRangeOf(row) > MOST_SPREAD;
}

/**
 * Names the kernels that are the fastest at one of `shapes` but have no star, because they spread
 * too much.
 */
export function unmarkedNotes(
  shapes: readonly PivotShape[],
  contenders: readonly { readonly name: string }[],
): string[] {
  const found = contenders.flatMap(({ name }) => {
    const own = shapes.filter(({ rows, best }) =>
      best === name && isSpread(rows.get(name))
    );
    if (own.length === 0) return [];
    return `${name} at ${
      own.length > 1 ? `${own.length} shapes` : own[0]!.label
    }`;
  });
  return found.length === 0 ? [] : [
    `the fastest is not marked where it spreads by over ±${MOST_SPREAD} %: ${
      found.join(", ")
    }`,
  ];
}

/**
 * Returns half the interquartile range in percent of the median; NaN if the quartiles are unknown
 * or equal.
 */
function halfRangeOf(row: CsvRow | undefined): number {
  const { median_us = "", q1_us = "", q3_us = "" } = row ?? {};
  if (median_us === "" || q1_us === q3_us) return NaN;
  return 50 * (Number(q3_us) - Number(q1_us)) / Number(median_us);
}

/** Formats {@linkcode halfRangeOf} in whole percent; empty if it is NaN. */
function spreadOf(row: CsvRow | undefined): string {
  const percent = halfRangeOf(row);
  return Number.isNaN(percent) ? "" : `±${Math.ceil(percent)}%`;
}

function rate(column: "tflops" | "gbps", head: string): Metric {
  return metric({
    name: column,
    head,
    format: formatRate,
    valueOf({ rows }, name) {
      const row = rows.get(name);
      return soundTimeOf(row) === undefined || row![column] === ""
        ? undefined
        : Number(row![column]);
    },
  });
}

/**
 * Makes the metric of SOL scores, 1 / (1 + (T - T_sol) / (T_b - T_sol)). T_b is the time of the fastest
 * of `against`; if that is empty, of the baseline and PyTorch's kernels. A kernel at the speed of light
 * has 1, a kernel as fast as T_b has 0.5.
 *
 * Source: NVIDIA, SOL-ExecBench.
 */
function scoreMetric(table: Pivot, { against = [] }: MetricOptions): Metric {
  const { contenders, shapes, baseline } = table;
  const unbound = unboundNotes(table);
  const isPeer = (name: string) =>
    name === baseline ||
    shapes.some(({ rows }) => rows.get(name)?.library.startsWith("torch "));
  const peers = against.length > 0
    ? against
    : contenders.map(({ name }) => name).filter(isPeer);
  return metric({
    name: "score",
    head: "SOL score",
    notes: unbound.length > 0 ? unbound : [
      peers.length > 0
        ? `0.5 is as fast as the fastest of ${peers.join(", ")}`
        : "these rows have no baseline and no kernel of PyTorch: name one with --against",
    ],
    format: (score) => score.toFixed(3),
    average: mean,
    valueOf({ rows }, name) {
      const [time, sol] = [soundTimeOf(rows.get(name)), solOf(rows.get(name))];
      if (time === undefined || sol === undefined) return undefined;
      const times = peers.map((peer) => soundTimeOf(rows.get(peer)))
        .filter((time) => time !== undefined);
      const headroom = Math.min(...times) - sol;
      // The score is undefined if T_b is at SOL already.
      if (times.length === 0 || headroom <= 0) return undefined;
      return 1 / (1 + Math.max(0, time - sol) / headroom);
    },
  });
}

/**
 * Says why no row with a time has a share of SOL. Returns no note if one has, or if no row has a
 * time.
 */
function unboundNotes({ shapes }: Pivot): string[] {
  const timed = shapes.flatMap(({ rows }) => [...rows.values()])
    .filter((row) => timeOf(row) !== undefined);
  if (timed.length === 0 || timed.some((row) => solOf(row) !== undefined)) {
    return [];
  }
  const reason = timed.every(({ backend }) => backend === "cpu")
    ? "a CPU is not calibrated"
    : "the device was not calibrated with this timer";
  return [`no share of SOL and no SOL score: ${reason}`];
}

function solOf(row: CsvRow | undefined): number | undefined {
  return row === undefined || row.sol_us === ""
    ? undefined
    : Number(row.sol_us);
}

function formatFactor(factor: number): string {
  return `${factor.toFixed(2)}x`;
}

type Pair = readonly [name: string | undefined, other: string | undefined];

/**
 * Makes the metric of how many times as fast one contender is as another. `pairOf` names both at a
 * shape.
 */
export function factorMetric(
  head: string,
  pairOf: (shape: PivotShape, name: string) => Pair,
): Metric {
  return metric({
    name: "speedup",
    head,
    format: formatFactor,
    pairOf,
    valueOf: (shape, name) => speedup(shape, ...pairOf(shape, name)),
  });
}

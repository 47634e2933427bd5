/**
 * Options of chart.js's axes: round ranges, titles with units, quiet grids.
 *
 * @module
 */

import { type Tick, Ticks } from "chart.js";
import type { Paper } from "./paper.ts";

/** The part of an axis that is drawn. */
export interface Range {
  readonly type: "linear" | "logarithmic";
  readonly min: number;
  readonly max: number;
}

/** The choices of {@linkcode rangeOf}. */
export interface RangeOptions {
  /** @default {"logarithmic" where values differ by more than a factor of 12} */
  readonly type?: Range["type"];
  /**
   * Starts a linear axis at 0. If false, the axis starts near the least value unless that is
   * below half of the greatest.
   *
   * @default {true}
   */
  readonly fromZero?: boolean;
}

/** The largest ratio of values for a linear axis: beyond it, small values could not be told apart. */
const LINEAR_UP_TO = 12;

/**
 * Returns the range of an axis for `values`, at least one, with round ends.
 *
 * @example
 * ```ts
 * import { rangeOf } from "./axes.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(rangeOf([5, 16.4]), { type: "linear", min: 0, max: 17.5 });
 * deepStrictEqual(rangeOf([5, 90]), { type: "logarithmic", min: 5, max: 90 });
 * ```
 */
export function rangeOf(
  values: readonly number[],
  { type, fromZero = true }: RangeOptions = {},
): Range {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const chosen = type ??
    (most <= LINEAR_UP_TO * least ? "linear" : "logarithmic");
  if (chosen === "logarithmic") {
    const [min, max] = [nice(least, Math.floor), nice(most, Math.ceil)];
    return { type: chosen, min, max: max > min ? max : 2 * min };
  }
  const near = !fromZero && least >= most / 2;
  const step = stepOf((near ? most - least : most) || most || 1);
  const min = near ? rounded(Math.floor(least / step) * step) : 0;
  const max = rounded(Math.ceil(most / step) * step);
  return { type: chosen, min, max: max > min ? max : min + step };
}

/** Options of {@linkcode valueAxis}. */
interface ValueAxisOptions {
  /** The text of a tick. @default {tickText} */
  readonly text?: (value: number) => string;
  /** The width of a vertical axis, CSS pixels; 0 draws no ticks. @default {the width of its ticks} */
  readonly room?: number;
}

/** Returns the options of an axis of values. An empty title takes no space. */
export function valueAxis(
  paper: Paper,
  title: string,
  { type, min, max }: Range,
  { text = tickText, room }: ValueAxisOptions = {},
): object {
  return {
    ...look(paper, title),
    type,
    min,
    max,
    ...(room !== undefined && {
      afterFit: (axis: { width: number }) => {
        axis.width = room;
      },
    }),
    ticks: {
      display: room !== 0,
      color: paper.theme.ink,
      font: { family: paper.family, size: 12 },
      maxRotation: 0,
      callback(value: number, index: number, ticks: Tick[]) {
        // On a logarithmic axis only some ticks have a text.
        const isNamed = type === "linear" ||
          Ticks.formatters.logarithmic.call(this as never, value, index, ticks);
        return isNamed ? text(value) : "";
      },
    },
  };
}

/** Returns the options of an axis of names. @param turn Degrees by which names are turned. */
export function nameAxis(paper: Paper, title: string, turn = 0): object {
  const { family, theme } = paper;
  return {
    ...look(paper, title),
    type: "category",
    offset: true,
    grid: { display: false, drawTicks: true, tickColor: theme.rule },
    ticks: {
      color: theme.ink,
      font: { family, size: 12 },
      minRotation: turn,
      maxRotation: turn || 60,
      autoSkip: true,
    },
  };
}

function look({ theme, family }: Paper, title: string): object {
  return {
    border: { color: theme.rule },
    grid: { color: theme.grid, tickColor: theme.rule },
    title: {
      display: title !== "",
      text: title,
      color: theme.ink,
      font: { family, size: 13 },
    },
  };
}

/** Returns a tick as text: `2.5`, `3G`. */
export function tickText(value: number): string {
  if (value >= 1e12) return `${value / 1e12}T`;
  if (value >= 1e9) return `${value / 1e9}G`;
  return `${Number(value.toPrecision(6))}`;
}

/** Returns 1, 2, 2.5 or 5 times a power of ten that divides `span` into about six steps. */
function stepOf(span: number): number {
  const rough = span / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((digit) => digit * power)
    .find((step) => step >= rough * 0.999)!;
}

/** Returns `value` with one digit, rounded by `to`. */
function nice(value: number, to: (value: number) => number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Number((to(value / power) * power).toPrecision(1));
}

/** Removes rounding errors of sums of a step, such as 0.6000000000000001 for 3 · 0.2. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

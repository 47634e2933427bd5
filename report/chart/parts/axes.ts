/**
 * Axes of charts: titles with units, quiet grids, round numbers.
 *
 * @module
 */

import type { ScaleOptionsByType } from "chart.js";
import { FAMILY } from "../canvas/font.ts";
import type { Theme } from "../canvas/theme.ts";

/** A chart.js scale's options, as far as they are set here. */
type Scale = {
  [T in "category" | "linear" | "logarithmic"]: Partial<
    Omit<ScaleOptionsByType<T>, "type" | "title" | "grid" | "border" | "ticks">
  >;
};

/** A scale that is the same for all that lies within. */
export interface Range {
  readonly type: "linear" | "logarithmic";
  readonly min: number;
  readonly max: number;
}

/** Beyond this ratio a linear scale would squeeze the small values. */
const LINEAR_UP_TO = 12;

/**
 * The range of an axis for `values`: from 0, or logarithmic where they differ by much.
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
export function rangeOf(values: readonly number[]): Range {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (most <= LINEAR_UP_TO * least) {
    const step = stepOf(most);
    return { type: "linear", min: 0, max: Math.ceil(most / step) * step };
  }
  return {
    type: "logarithmic",
    min: nice(least, Math.floor),
    max: nice(most, Math.ceil),
  };
}

/** First digits of finer and finer ticks: 1, 1.5 to 9.5, and 1, 1.1 to 9.9. */
const HALVES = Array.from({ length: 18 }, (_, i) => (2 + i) / 2);
const TENTHS = Array.from({ length: 90 }, (_, i) => (10 + i) / 10);

/** The ticks within `range`. */
export function ticksOf({ type, min, max }: Range): number[] {
  if (type === "linear") {
    const step = stepOf(max);
    const count = Math.round((max - min) / step);
    return Array.from({ length: count + 1 }, (_, i) => min + i * step);
  }
  const decades = Math.log10(max / min);
  const digits = decades > 4.2 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  // Around a single value there may be none of these.
  return [digits, HALVES, TENTHS].map((steps) => logTicks({ min, max }, steps))
    .find((ticks) => ticks.length > 1) ?? [];
}

function logTicks(
  { min, max }: Pick<Range, "min" | "max">,
  digits: readonly number[],
): number[] {
  const ticks = [];
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) {
    for (const digit of digits) {
      const tick = Number(`${digit}e${e}`);
      if (tick >= min && tick <= max) ticks.push(tick);
    }
  }
  return ticks;
}

/** A number as a tick has it. */
export function tickText(value: number): string {
  if (value >= 1e12) return `${value / 1e12}T`;
  if (value >= 1e9) return `${value / 1e9}G`;
  return `${Number(value.toPrecision(6))}`;
}

/** The options of an axis of values. */
export function valueAxis(theme: Theme, title: string, range: Range): object {
  return {
    ...look(theme, title),
    type: range.type,
    min: range.min,
    max: range.max,
    afterBuildTicks: (axis: { ticks: { value: number }[] }) => {
      axis.ticks = ticksOf(range).map((value) => ({ value }));
    },
    ticks: {
      color: theme.ink,
      font: { family: FAMILY, size: 12 },
      autoSkip: false,
      callback: (value: number | string) => tickText(Number(value)),
    },
  };
}

/** The options of an axis of names. */
export function nameAxis(
  theme: Theme,
  title: string,
  options: { readonly turn?: number; readonly size?: number } = {},
): object {
  const { turn = 0, size = 12 } = options;
  const scale: Scale["category"] = { offset: true };
  return {
    ...look(theme, title),
    ...scale,
    type: "category",
    grid: { display: false, drawTicks: true, tickColor: theme.rule },
    ticks: {
      color: theme.ink,
      font: { family: FAMILY, size },
      minRotation: turn,
      maxRotation: turn || 60,
      autoSkip: true,
    },
  };
}

function look(theme: Theme, title: string): object {
  return {
    border: { color: theme.rule },
    grid: { color: theme.grid, tickColor: theme.rule },
    title: {
      display: title !== "",
      text: title,
      color: theme.ink,
      font: { family: FAMILY, size: 13 },
    },
  };
}

/** About six steps up to `most`, each 1, 2, 2.5 or 5 times a power of ten. */
function stepOf(most: number): number {
  const rough = most / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((digit) => digit * power)
    .find((step) => step >= rough * 0.999)!;
}

/** `value` with one digit, the way `to` rounds it. */
function nice(value: number, to: (value: number) => number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Number((to(value / power) * power).toPrecision(1));
}

/**
 * Axes of charts: titles with units, quiet grids, round numbers.
 *
 * @module
 */

import type { ScaleOptionsByType } from "chart.js";
import { FAMILY } from "../canvas/font.ts";
import type { Theme } from "../canvas/theme.ts";
import { type Range, ticksOf, tickText } from "../../model/scale.ts";

/** A chart.js scale's options, as far as they are set here. */
type Scale = {
  [T in "category" | "linear" | "logarithmic"]: Partial<
    Omit<ScaleOptionsByType<T>, "type" | "title" | "grid" | "border" | "ticks">
  >;
};

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

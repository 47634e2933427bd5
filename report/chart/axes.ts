/**
 * Options of chart.js's axes: titles with units, quiet grids, the ticks of the model.
 *
 * @module
 */

import { type Range, ticksOf, tickText } from "../model/scale.ts";
import type { Paper } from "./paper.ts";

/** Options of {@linkcode valueAxis}. */
export interface ValueAxisOptions {
  /** The text of a tick. @default {tickText} */
  readonly text?: (value: number) => string;
  /** @default {those of the model's scale} */
  readonly ticks?: readonly number[];
  /** The room of an axis at the side, in CSS pixels; 0 draws no ticks. @default {what its ticks take} */
  readonly room?: number;
}

/** Returns the options of an axis of values; empty titles take no room. */
export function valueAxis(
  paper: Paper,
  title: string,
  range: Range,
  { text = tickText, ticks = ticksOf(range), room }: ValueAxisOptions = {},
): object {
  return {
    ...look(paper, title),
    type: range.type,
    min: range.min,
    max: range.max,
    afterBuildTicks: (axis: { ticks: { value: number }[] }) => {
      axis.ticks = ticks.map((value) => ({ value }));
    },
    ...(room !== undefined && {
      afterFit: (axis: { width: number }) => {
        axis.width = room;
      },
    }),
    ticks: {
      display: room !== 0,
      color: paper.theme.ink,
      font: { family: paper.family, size: 12 },
      autoSkip: false,
      callback: (value: number | string) => text(Number(value)),
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

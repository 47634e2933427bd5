/**
 * The chart of cells in rows and columns, each with a colour and lines of text, and the
 * colours of speed-ups with their key.
 *
 * @module
 */

import type { Box, Paper, Place } from "./paper.ts";
import { inkOn, mixed, type Theme } from "./theme.ts";

/** A line of a cell. */
export interface CellLine {
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
  /** Small print at the right end of the cell. */
  readonly beside?: string;
}

/** A cell. A cell without a colour has no value, and is hatched. */
export interface Cell {
  readonly color?: string;
  readonly lines: readonly CellLine[];
}

/** A chart of cells as data. */
interface CellChart {
  readonly columns: readonly string[];
  /** The meaning of the columns; empty if their names are enough. */
  readonly columnTitle: string;
  readonly rows: readonly {
    readonly name: string;
    readonly cells: readonly Cell[];
  }[];
}

/** Space between cells, CSS pixels. */
const GAP = 2;
const LINE = 15;
const STYLE = { size: 12.5 } as const;
/** The share of a cell's width at which a line with small print beside it ends. */
const MIDDLE = 0.46;

/** Draws `chart` in `box`. @param names The width of the rows' names, CSS pixels. */
export function drawCells(
  paper: Paper,
  { columns, columnTitle, rows }: CellChart,
  { box, names }: { readonly box: Box; readonly names: number },
): void {
  const heads = columns.map(brokenName);
  const lines = Math.max(1, ...heads.map((head) => head.length));
  const head = lines * LINE + 8 + (columnTitle === "" ? 0 : 22);
  const left = box.x + names;
  const width = (box.width - names) / columns.length;
  const height = (box.height - head) / rows.length;
  if (columnTitle !== "") {
    paper.text(columnTitle, [left + (box.width - names) / 2, box.y + 8], {
      ...STYLE,
      color: paper.theme.dim,
      align: "center",
    });
  }
  for (const [column, name] of heads.entries()) {
    const x = left + (column + 0.5) * width;
    for (const [i, line] of name.entries()) {
      const y = box.y + head - 8 - (name.length - i - 0.5) * LINE;
      paper.text(line, [x, y], { ...STYLE, bold: true, align: "center" });
    }
  }
  const boxOf = (row: number, column: number): Box => ({
    x: left + column * width + GAP / 2,
    y: box.y + head + row * height + GAP / 2,
    width: width - GAP,
    height: height - GAP,
  });
  // Draw all backgrounds before all texts: those of one colour then share a path of an SVG file.
  for (const [i, { cells }] of rows.entries()) {
    for (const [column, { color }] of cells.entries()) {
      const own = boxOf(i, column);
      if (color === undefined) paper.hatch(own);
      else paper.fill(own, color);
    }
  }
  for (const [i, { name, cells }] of rows.entries()) {
    paper.text(name, [left - 10, box.y + head + (i + 0.5) * height], {
      size: paper.fittingSize(name, names - 12, STYLE),
      align: "right",
    });
    for (const [column, cell] of cells.entries()) {
      writeCell(paper, cell, boxOf(i, column));
    }
  }
}

function writeCell(paper: Paper, { color, lines }: Cell, box: Box): void {
  const { x, y, width, height } = box;
  const ink = color === undefined ? paper.theme.ink : inkOn(color);
  const from = y + height / 2 - (lines.length - 1) * LINE / 2;
  for (const [i, { text, beside, ...style }] of lines.entries()) {
    const middle = from + LINE * i;
    if (beside === undefined) {
      paper.text(text, [Math.round(x + width / 2), middle], {
        ...style,
        size: paper.fittingSize(text, width - 8, style),
        align: "center",
        color: ink,
      });
      continue;
    }
    const right = { align: "right", color: ink } as const;
    const [at, end] = [x + width * MIDDLE, x + width - 7].map(Math.round);
    paper.text(text, [at!, middle], { ...style, ...right });
    paper.text(beside, [end!, middle], { size: 10.5, ...right });
  }
}

/** Estimates the width of rows' names in CSS pixels. They cannot be measured without a paper. */
export function roomForNames(names: readonly string[]): number {
  return 24 + 7.2 * Math.max(...names.map((name) => name.length));
}

/** Breaks a name into lines, after hyphens. */
export function brokenName(name: string): string[] {
  const lines: string[] = [];
  for (const part of name.split(/(?<=-)/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length <= 15) {
      lines[lines.length - 1] = last + part;
    } else lines.push(part);
  }
  return lines;
}

/** The factors at which a scale may end. Larger factors have the colour of the last. */
const ENDS = [1.25, 1.5, 2, 3, 5, 10, 20, 50, 100];
/**
 * The share of the end colour at the end of a scale. With more, the darkest cells of a light theme
 * would have white letters, unlike all others.
 */
const FULL = 0.9;
/** The number of shades from the paper's colour to the colour of an end. */
const SHADES = 28;
const KEY_WIDTH = 280;
const KEY_HEIGHT = 12;
const KEY_STEPS = 56;

/** The colour scale of speed-ups, from 1 / `end` to `end`. */
export interface Scale {
  readonly end: number;
  /** Whether a factor is below 1 / `end`, or above `end`. */
  readonly below: boolean;
  readonly above: boolean;
}

/** Returns the scale of `factors`. */
export function scaleOf(factors: readonly number[]): Scale {
  const most = Math.max(1, ...factors.map((f) => Math.max(f, 1 / f)));
  const end = ENDS.find((end) => end >= most) ?? ENDS.at(-1)!;
  return {
    end,
    below: factors.some((factor) => factor < 1 / end),
    above: factors.some((factor) => factor > end),
  };
}

/** Returns the colour of a factor: paper at 1, blue above and orange below. */
export function colorOf(factor: number, { end }: Scale, theme: Theme): string {
  const share = Math.max(-1, Math.min(1, Math.log(factor) / Math.log(end)));
  const to = share < 0 ? theme.slower : theme.faster;
  // The exponent tells 1.02 from 1. Shades are rounded, because fewer colours make smaller files.
  const strength = Math.round(SHADES * Math.abs(share) ** 0.8) / SHADES;
  return mixed(theme.paper, to, FULL * strength);
}

/** Draws the key of `scale` with its upper left corner at a place. */
export function drawScale(
  paper: Paper,
  [x, y]: Place,
  scale: Scale,
): void {
  const { theme } = paper;
  const { end, below, above } = scale;
  const at = (share: number) => x + KEY_WIDTH * (share + 1) / 2;
  for (let i = 0; i < KEY_STEPS; i++) {
    const share = (i + 0.5) / KEY_STEPS * 2 - 1;
    paper.fill({
      x: x + KEY_WIDTH * i / KEY_STEPS,
      y,
      // Steps overlap a little, so that no gap shows between them.
      width: KEY_WIDTH / KEY_STEPS + 0.4,
      height: KEY_HEIGHT,
    }, colorOf(end ** share, scale, theme));
  }
  const half = Math.sqrt(end);
  for (const factor of [1 / end, 1 / half, 1, half, end]) {
    const share = Math.log(factor) / Math.log(end);
    paper.line([[at(share), y + KEY_HEIGHT], [at(share), y + KEY_HEIGHT + 4]]);
    const open = factor === end && above
      ? "≥ "
      : factor === 1 / end && below
      ? "≤ "
      : "";
    paper.text(
      `${open}${factor.toFixed(2)}×`,
      [at(share), y + KEY_HEIGHT + 13],
      {
        size: 11,
        color: theme.dim,
        align: "center",
      },
    );
  }
  const middle = y + KEY_HEIGHT / 2;
  const style = { size: 12, color: theme.dim };
  paper.text("slower", [x - 10, middle], { ...style, align: "right" });
  paper.text("faster", [x + KEY_WIDTH + 10, middle], style);
}

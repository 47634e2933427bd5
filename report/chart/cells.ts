/**
 * The chart of cells in rows and columns, each with a colour and lines of text.
 *
 * @module
 */

import type { Box, Paper } from "./paper.ts";
import { inkOn } from "./theme.ts";

/** A line of a cell. */
export interface CellLine {
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
  /** Small print at the right end of the cell. */
  readonly beside?: string;
}

/** A cell. Without a colour it is hatched: there is no value. */
export interface Cell {
  readonly color?: string;
  readonly lines: readonly CellLine[];
}

/** A chart of cells as data. */
export interface CellChart {
  readonly columns: readonly string[];
  /** The meaning of the columns; empty where their names say it. */
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

/** Draws `chart` in `box`. @param names The room for the rows' names, CSS pixels. */
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
  for (const [i, { name, cells }] of rows.entries()) {
    const y = box.y + head + i * height;
    paper.text(name, [left - 10, y + height / 2], {
      size: paper.fittingSize(name, names - 12, STYLE),
      align: "right",
    });
    for (const [column, cell] of cells.entries()) {
      drawCell(paper, cell, {
        x: left + column * width + GAP / 2,
        y: y + GAP / 2,
        width: width - GAP,
        height: height - GAP,
      });
    }
  }
}

function drawCell(paper: Paper, { color, lines }: Cell, box: Box): void {
  const { x, y, width, height } = box;
  if (color === undefined) paper.hatch(box);
  else paper.fill(box, color);
  const ink = color === undefined ? paper.theme.ink : inkOn(color);
  const from = y + height / 2 - (lines.length - 1) * LINE / 2;
  for (const [i, { text, beside, ...style }] of lines.entries()) {
    const middle = from + LINE * i;
    if (beside === undefined) {
      paper.text(text, [x + width / 2, middle], {
        ...style,
        size: paper.fittingSize(text, width - 8, style),
        align: "center",
        color: ink,
      });
      continue;
    }
    const right = { align: "right", color: ink } as const;
    paper.text(text, [x + width * MIDDLE, middle], { ...style, ...right });
    paper.text(beside, [x + width - 7, middle], { size: 10.5, ...right });
  }
}

/** Returns about the room that rows' names take, before there is paper to measure them on. */
export function roomForNames(names: readonly string[]): number {
  return 24 + 7.2 * Math.max(...names.map((name) => name.length));
}

/** Returns a name in lines, broken after hyphens. */
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

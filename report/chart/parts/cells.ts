/**
 * Cells in rows and columns, each of a colour.
 *
 * @module
 */

import { drawHatch } from "../canvas/marks.ts";
import { inkOn } from "../canvas/color.ts";
import type { Box, Paper } from "../canvas/paper.ts";
import { fittingSize } from "./fitting.ts";

/** A cell, and where it is. */
export interface Cell {
  readonly row: number;
  readonly column: number;
  readonly box: Box;
  /** What is read on its colour. */
  readonly ink: string;
}

/** What a map of cells is. */
export interface CellMap {
  readonly box: Box;
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** Room to the left of the cells, for the rows' names. */
  readonly names: number;
  /** What the columns are; empty where their names say it. */
  readonly title: string;
  /** Whether a wider gap stands above a row. */
  readonly apart?: (row: number) => boolean;
  /** The colour of a cell; `undefined` hatches it. */
  colorOf(row: number, column: number): string | undefined;
  /** Fills in a cell. */
  write(cell: Cell): void;
}

/** Space between cells, and between rows that stand apart, CSS pixels. */
const GAP = 2;
const WIDE_GAP = 8;
const LINE = 15;
const STYLE = { size: 12.5 } as const;

/** Draws `map`. */
export function drawCells(paper: Paper, map: CellMap): void {
  const { box, rows, columns, names, title, apart = () => false } = map;
  const heads = columns.map(brokenName);
  const lines = Math.max(1, ...heads.map((head) => head.length));
  const head = lines * LINE + 8 + (title === "" ? 0 : 22);
  const left = box.x + names;
  const width = (box.width - names) / columns.length;
  const gaps = rows.filter((_, row) => row > 0 && apart(row)).length;
  const height = (box.height - head - gaps * WIDE_GAP) / rows.length;
  if (title !== "") {
    paper.text(title, [left + (box.width - names) / 2, box.y + 8], {
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
  let y = box.y + head;
  for (const [row, name] of rows.entries()) {
    if (row > 0 && apart(row)) y += WIDE_GAP;
    paper.text(name, [left - 10, y + height / 2], {
      size: fittingSize(paper, name, { ...STYLE, room: names - 12 }),
      align: "right",
    });
    for (const column of columns.keys()) {
      const cell = {
        x: left + column * width + GAP / 2,
        y: y + GAP / 2,
        width: width - GAP,
        height: height - GAP,
      };
      const color = map.colorOf(row, column);
      if (color === undefined) drawHatch(paper, cell);
      else paper.fill(cell, color);
      const ink = color === undefined ? paper.theme.ink : inkOn(color);
      map.write({ row, column, box: cell, ink });
    }
    y += height;
  }
}

/** About the room that rows' names take, before there is paper to measure them on. */
export function roomForNames(names: readonly string[]): number {
  return 24 + 7.2 * Math.max(...names.map((name) => name.length));
}

/** A name in lines, broken after hyphens. */
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

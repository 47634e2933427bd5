/**
 * A cell for each shape: groups of shapes down, the size that varies across.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import { type Cell, drawCells, roomForNames } from "./parts/cells.ts";
import type { PlotData, Shape } from "./parts/data.ts";
import { fittingSize } from "./parts/fitting.ts";
import { frame, FRAME_HEIGHT, MARGIN, type Words } from "./parts/frame.ts";
import { type Group, sweepOf } from "./parts/groups.ts";
import type { Box, Paper } from "./canvas/paper.ts";
import type { Theme } from "./canvas/theme.ts";

const COLUMN = 132;
const ROW = 84;
/** Rows or columns of a map. */
const MOST = 32;
const HEAD = 62;
const LEADING = 15;

/** A line of a cell. */
export interface Line {
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
}

/** What the cells say. */
export interface ShapeMap extends Words {
  /** Of the picture's file. */
  readonly name: string;
  /** `undefined` hatches the cell. */
  colorOf(shape: Shape, theme: Theme): string | undefined;
  linesOf(shape: Shape): readonly Line[];
  /** What a row is called. @default {the group's own label} */
  labelOf?(group: Group): string;
  /** What stands below the cells. @default {nothing} */
  readonly foot?: {
    readonly height: number;
    draw(paper: Paper, box: Box): void;
  };
}

/** The map as a picture, or why there is none. */
export function shapeMap(data: PlotData, map: ShapeMap): Picture[] | string {
  const { axis, groups, values } = sweepOf(data);
  if (values.length > MOST || groups.length > MOST) {
    return `${groups.length} × ${values.length} cells would not be read`;
  }
  const labels = groups.map((group) => map.labelOf?.(group) ?? group.label);
  const names = roomForNames(labels);
  const foot = map.foot?.height ?? 0;
  const shapeAt = (row: number, column: number) =>
    groups[row]!.shapes.find((shape) => shape[axis] === values[column]);
  return [{
    name: map.name,
    width: Math.max(760, 2 * MARGIN + names + COLUMN * values.length),
    height: FRAME_HEIGHT + HEAD + ROW * groups.length + foot,
    draw(paper) {
      const { x, y, width, height } = frame(paper, data, map);
      drawCells(paper, {
        box: { x, y, width, height: height - foot },
        rows: labels,
        columns: values.map((value) => `${value}`),
        names,
        title: axis.toUpperCase(),
        colorOf(row, column) {
          const shape = shapeAt(row, column);
          return shape ? map.colorOf(shape, paper.theme) : paper.theme.void;
        },
        write(cell) {
          const shape = shapeAt(cell.row, cell.column);
          if (shape) return writeLines(paper, map.linesOf(shape), cell);
          const { x, y, width, height } = cell.box;
          paper.text("not in the suite", [x + width / 2, y + height / 2], {
            align: "center",
            color: paper.theme.dim,
          });
        },
      });
      const below = { x: x + names, y: y + height - foot, width, height: foot };
      map.foot?.draw(paper, { ...below, width: width - names });
    },
  }];
}

function writeLines(
  paper: Paper,
  lines: readonly Line[],
  { box: { x, y, width, height }, ink }: Cell,
): void {
  const from = y + height / 2 - (lines.length - 1) * LEADING / 2;
  for (const [i, { text, ...set }] of lines.entries()) {
    paper.text(text, [x + width / 2, from + LEADING * i], {
      ...set,
      align: "center",
      color: ink,
      size: fittingSize(paper, text, { ...set, room: width - 8 }),
    });
  }
}

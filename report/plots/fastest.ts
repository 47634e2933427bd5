/**
 * Which kernel is fastest at each shape, and by how much.
 *
 * @module
 */

import type { Picture } from "../canvas.ts";
import type { Look } from "../palette.ts";
import { brokenName, drawCells, roomForNames } from "./cells.ts";
import { formatUs, type PlotData, type Shape, statusOf } from "./data.ts";
import { fittingSize } from "./fitting.ts";
import { frame, FRAME_HEIGHT, MARGIN } from "./frame.ts";
import { sweepOf } from "./groups.ts";

const COLUMN = 132;
const ROW = 84;
/** Rows or columns of a map. */
const MOST = 32;
const HEAD = 62;

/** The map of the fastest kernels: groups of shapes down, the size that varies across. */
export function fastest(data: PlotData): readonly Picture[] | string {
  if (data.baseline === undefined) return "no case has a time";
  const { axis, groups, values } = sweepOf(data);
  if (values.length > MOST || groups.length > MOST) {
    return `${groups.length} × ${values.length} cells would not be read`;
  }
  const names = roomForNames(groups.map(({ label }) => label));
  const shapeAt = (row: number, column: number) =>
    groups[row]!.shapes.find((shape) => shape[axis] === values[column]);
  return [{
    name: "fastest",
    width: Math.max(760, 2 * MARGIN + names + COLUMN * values.length),
    height: FRAME_HEIGHT + HEAD + ROW * groups.length,
    draw(paper) {
      const box = frame(paper, data, {
        title: "Fastest kernel",
        note:
          "At each shape: the kernel with the least median latency; below, the second, and how many times as long it takes",
      });
      drawCells(paper, {
        box,
        rows: groups.map(({ label }) => label),
        columns: values.map((value) => `${value}`),
        names,
        title: axis.toUpperCase(),
        colorOf(row, column) {
          const shape = shapeAt(row, column);
          if (!shape) return paper.theme.void;
          const [best] = ranked(data, shape);
          return best && best.look.color;
        },
        write: ({ row, column, box: { x, y, width, height }, ink }) => {
          const middle: [number, number] = [x + width / 2, y + height / 2];
          const style = { align: "center", color: ink } as const;
          const shape = shapeAt(row, column);
          if (!shape) {
            return paper.text("not in the suite", middle, {
              ...style,
              color: paper.theme.dim,
            });
          }
          const timed = ranked(data, shape);
          const [best, next] = timed;
          const failed = data.kernels.length - timed.length;
          if (!best) {
            const said = data.kernels.map((name) =>
              statusOf(data.at(shape, name))
            );
            const text = [...new Set(said)].join(", ");
            return paper.text(text, middle, { ...style, size: 11 });
          }
          const lines = [
            ...brokenName(best.kernel).map((text) => ({
              text,
              size: 12,
              bold: true,
            })),
            { text: formatUs(best.us), size: 11 },
            ...next
              ? [{
                text: `next ${next.kernel} ${(next.us / best.us).toFixed(2)}×`,
                size: 10,
              }]
              : [{ text: "no other has a time", size: 10 }],
            ...failed > 0
              ? [{ text: `${failed} without a time`, size: 10 }]
              : [],
          ];
          const from = middle[1] - (lines.length - 1) * 7.5;
          for (const [i, { text, ...set }] of lines.entries()) {
            paper.text(text, [middle[0], from + 15 * i], {
              ...set,
              ...style,
              size: fittingSize(paper, text, { ...set, room: width - 8 }),
            });
          }
        },
      });
    },
  }];
}

interface Ranked {
  readonly kernel: string;
  readonly us: number;
  readonly look: Look;
}

/** The kernels with a time at `shape`, fastest first; of equals the first of the suite. */
function ranked(data: PlotData, shape: Shape): Ranked[] {
  return data.kernels.flatMap((kernel): Ranked[] => {
    const us = data.at(shape, kernel)?.us;
    const look = data.looks.get(kernel)!;
    return us === undefined ? [] : [{ kernel, us, look }];
  }).toSorted((a, b) => a.us - b.us);
}

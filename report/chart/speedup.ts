/**
 * Draws how many times as fast as the baseline each kernel is at each shape, with its latency.
 *
 * @module
 */

import { type PivotShape, speedup as speedupOf } from "../model/pivot.ts";
import { timeOf } from "../model/sol.ts";
import { type Cell, drawCells, roomForNames } from "./cells.ts";
import {
  type ChartData,
  formatUs,
  ranked,
  shapeNames,
  statusOf,
  suspectNote,
} from "./data.ts";
import {
  frame,
  FRAME_HEIGHT,
  MARGIN,
  pageName,
  pagesOf,
  type Picture,
} from "./frame.ts";
import { beyond, colorOf, drawScale, endOf } from "./scale_key.ts";
import type { Theme } from "./theme.ts";

const ROW = 25;
/** Shapes on one picture: more would not be read. */
const PAGE = 64;
const HEAD = 40;
const FOOT = 48;
const COLUMN = 118;

/** Draws the heat map, on several pictures where there are many shapes. */
export function speedup(data: ChartData): readonly Picture[] | string {
  const { pivot: { baseline, shapes }, kernels } = data;
  if (baseline === undefined) return "no case has a time";
  const factors = shapes.flatMap((shape) =>
    kernels.map((kernel) => speedupOf(shape, kernel, baseline))
  ).filter((factor) => factor !== undefined);
  const end = endOf(factors);
  const labels = shapeNames(shapes);
  const names = roomForNames(labels);
  const pages = pagesOf([...shapes.entries()], PAGE);
  return pages.map((own, page): Picture => {
    const { name, part } = pageName("speedup", page, pages.length);
    return {
      name,
      width: Math.max(900, 2 * MARGIN + names + COLUMN * kernels.length),
      height: FRAME_HEIGHT + HEAD + FOOT + 30 + ROW * own.length,
      draw(paper) {
        const box = frame(paper, data, {
          title: `Speed-up over ${baseline}${part}`,
          note:
            `Times as fast as ${baseline} at the same shape, and the median latency in small print; the fastest of a row is bold${
              suspectNote(data)
            }`,
        });
        drawCells(paper, {
          columns: kernels,
          columnTitle: "",
          rows: own.map(([at, shape]) => ({
            name: labels[at]!,
            cells: cellsOf(data, shape, { end, theme: paper.theme }),
          })),
        }, { box: { ...box, height: box.height - FOOT }, names });
        drawScale(paper, [box.x + names, box.y + box.height - 34], {
          end,
          ...beyond(factors, end),
        });
      },
    };
  });
}

function cellsOf(
  { pivot: { baseline }, kernels }: ChartData,
  shape: PivotShape,
  { end, theme }: { readonly end: number; readonly theme: Theme },
): Cell[] {
  const best = ranked(shape, kernels)[0]?.us;
  return kernels.map((kernel): Cell => {
    const row = shape.rows.get(kernel);
    const us = timeOf(row);
    if (us === undefined) return { lines: [{ text: statusOf(row), size: 12 }] };
    const factor = speedupOf(shape, kernel, baseline);
    const text = factor === undefined ? "–" : `${factor.toFixed(2)}×`;
    const line = { text, size: 13, bold: us === best, beside: formatUs(us) };
    // A time without one of the baseline is shown on plain ground.
    const color = factor === undefined
      ? theme.void
      : colorOf(factor, end, theme);
    return { color, lines: [line] };
  });
}

/**
 * How much faster each kernel is than the baseline at each shape, with the latency.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import type { Box, Paper } from "./canvas/paper.ts";
import { drawCells, roomForNames } from "./parts/cells.ts";
import {
  formatUs,
  type PlotData,
  type Shape,
  shapeLabel,
  soundUs,
  speedupOf,
  statusOf,
  suspectNote,
} from "./parts/data.ts";
import { frame, FRAME_HEIGHT, MARGIN } from "./parts/frame.ts";
import { pageName, pagesOf } from "./parts/pages.ts";
import { beyond, colorOf, drawScale, endOf } from "./parts/scale.ts";

const ROW = 25;
/** Shapes on one picture: more would not be read. */
const PAGE = 64;
const HEAD = 40;
const FOOT = 48;
const COLUMN = 118;

/** The heat map, on several pictures where there are many shapes. */
export function speedup(data: PlotData): readonly Picture[] | string {
  const { baseline } = data;
  if (baseline === undefined) return "no case has a time";
  const factors = data.shapes.flatMap((shape) =>
    data.kernels.map((kernel) => speedupOf(data, shape, [kernel, baseline]))
  ).filter((factor) => factor !== undefined);
  const end = endOf(factors);
  const pages = pagesOf(data.shapes, PAGE);
  return pages.map((shapes, page) => {
    const { name, part } = pageName("speedup", page, pages.length);
    const names = roomForNames(shapes.map(shapeLabel));
    return {
      name,
      width: Math.max(900, 2 * MARGIN + names + COLUMN * data.kernels.length),
      height: FRAME_HEIGHT + HEAD + FOOT + 30 + ROW * shapes.length,
      draw(paper: Paper) {
        const box = frame(paper, data, {
          title: `Speed-up over ${baseline}${part}`,
          note:
            `Times as fast as ${baseline} at the same shape, and the median latency in small print; the fastest of a row is bold${
              suspectNote(data)
            }`,
        });
        drawMap(paper, data, {
          box: { ...box, height: box.height - FOOT },
          shapes,
          names,
          against: baseline,
          end,
        });
        drawScale(paper, [box.x + names, box.y + box.height - 34], {
          end,
          ...beyond(factors, end),
        });
      },
    };
  });
}

function drawMap(
  paper: Paper,
  data: PlotData,
  { box, shapes, names, against, end }: {
    box: Box;
    shapes: readonly Shape[];
    names: number;
    against: string;
    end: number;
  },
): void {
  const { theme } = paper;
  const { kernels } = data;
  const least = shapes.map((shape) =>
    Math.min(
      ...kernels.map((name) => soundUs(data.at(shape, name)) ?? Infinity),
    )
  );
  const factorAt = (row: number, column: number) =>
    speedupOf(data, shapes[row]!, [kernels[column]!, against]);
  const entryAt = (row: number, column: number) =>
    data.at(shapes[row]!, kernels[column]!);
  drawCells(paper, {
    box,
    rows: shapes.map(shapeLabel),
    columns: kernels,
    names,
    title: "",
    apart: (row) => shapes[row]!.m !== shapes[row - 1]!.m,
    colorOf(row, column) {
      const factor = factorAt(row, column);
      if (factor !== undefined) return colorOf(factor, end, theme);
      // Timed, but the baseline is not: there is a latency to show, on plain ground.
      return entryAt(row, column)?.us === undefined ? undefined : theme.void;
    },
    write({ row, column, box: { x, y, width, height }, ink }) {
      const entry = entryAt(row, column);
      const middle = y + height / 2;
      if (entry?.us === undefined) {
        return paper.text(statusOf(entry), [x + width / 2, middle], {
          size: 12,
          align: "center",
          color: ink,
        });
      }
      const factor = factorAt(row, column);
      paper.text(
        factor === undefined ? "–" : `${factor.toFixed(2)}×`,
        [x + width * 0.46, middle],
        { size: 13, bold: entry.us === least[row], align: "right", color: ink },
      );
      paper.text(formatUs(entry.us), [x + width - 7, middle], {
        size: 10.5,
        align: "right",
        color: ink,
      });
    },
  });
}

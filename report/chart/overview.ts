/**
 * Draws latency over the axis that varies most, a panel for each value of the other axes.
 *
 * @module
 */

import { drawCurves } from "./curves.ts";
import {
  type ChartData,
  latencyCharts,
  latencyRange,
  legendOf,
  NO_TIMES,
} from "./data.ts";
import {
  drawLegend,
  frame,
  FRAME_HEIGHT,
  inParts,
  MARGIN,
  partName,
  type Picture,
} from "./frame.ts";
import { mainOf } from "../model/rank.ts";
import { panelsOf } from "./panels.ts";

const MOST_WIDTH = 2400;
const LEAST_WIDTH = 1000;
/** The least width of a panel, and the width for each value on its axis, CSS pixels. */
const PANEL = 300;
const CATEGORY = 30;
/** The width of the values' axis left of a row of panels, and the gap between panels, CSS pixels. */
const AXIS = 66;
const GAP = 18;
/** The height of a single row of panels, and that of each row of several, CSS pixels. */
const HEIGHT = 520;
const ROW = 330;
const LEGEND = 66;

/** The most panels of a picture. Further panels are drawn in a second picture, and so on. */
const MOST_PANELS = 12;
/** Draws all panels on one scale. */
export function overview(all: ChartData): readonly Picture[] | string {
  const data = fewer(all);
  const { shapes } = data.pivot;
  const range = latencyRange(shapes);
  if (range === undefined) return NO_TIMES;
  const sweep = panelsOf(shapes);
  const most = Math.max(...sweep.panels.map(({ items }) => items.length));
  const wide = Math.max(PANEL, CATEGORY * most);
  const fitting = Math.floor((MOST_WIDTH - 2 * MARGIN - AXIS) / (wide + GAP));
  return inParts(sweep.panels, MOST_PANELS).map((panels, part) => {
    const rows = Math.ceil(panels.length / Math.max(1, fitting));
    const across = Math.ceil(panels.length / rows);
    return {
      name: partName("overview", part),
      width: Math.max(LEAST_WIDTH, 2 * MARGIN + AXIS + across * (wide + GAP)),
      height: FRAME_HEIGHT + LEGEND + (rows === 1 ? HEIGHT : rows * ROW),
      draw(paper) {
        const box = frame(paper, data, {
          title: "Latency",
          note: `Median of ${
            whichOf(data, all)
          }, with its quartiles, all panels on one scale; lower is better. A cross above the axis: a case without a time`,
        });
        const { x, y } = box;
        const legend = legendOf(shapes, { ...data, theme: paper.theme });
        const head = drawLegend(paper, legend, box) + 14;
        const width = (box.width - AXIS) / across;
        const height = (box.height - head) / rows;
        const charts = latencyCharts({ ...sweep, panels }, {
          legend,
          rangeOf: () => range,
        });
        for (const [i, chart] of charts.entries()) {
          const column = i % across;
          const room = column === 0 ? AXIS : 0;
          drawCurves(paper, chart, {
            box: {
              x: x + column * width + AXIS - room,
              y: y + head + Math.floor(i / across) * height,
              width: width - GAP + room,
              height: height - 8,
            },
            room,
            turn: most > 5 && sweep.axis !== undefined ? 60 : 0,
          });
        }
      },
    };
  });
}

/**
 * Returns `data` with fewer kernels: the baseline, and the fastest of ours and of the peers, as
 * {@linkcode mainOf} chooses them. Kernels that the user named all stay.
 */
function fewer(data: ChartData): ChartData {
  if (data.chosen) return data;
  const first = mainOf(data.pivot);
  const kernels = data.kernels.filter((name) => first.includes(name));
  return { ...data, kernels };
}

function whichOf({ kernels, pivot }: ChartData, all: ChartData): string {
  const baseline = pivot.baseline === undefined ? "" : "the baseline and ";
  return kernels.length === all.kernels.length
    ? "each kernel"
    : `${baseline}the fastest of ours and of the peers, ${kernels.length} of ${all.kernels.length} kernels (--kernel draws others)`;
}

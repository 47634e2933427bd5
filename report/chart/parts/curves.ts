/**
 * Latencies along one size, a curve for each kernel.
 *
 * @module
 */

import type { Chart, ChartDataset } from "chart.js";
import { drawCross, drawMark } from "../canvas/marks.ts";
import type { Box, Paper } from "../canvas/paper.ts";
import { type Range, rangeOf } from "../../model/scale.ts";
import { nameAxis, valueAxis } from "./axes.ts";
import type { PlotData, Shape } from "./data.ts";
import { type Drawn, drawNames, LIGHT, roomForNames } from "./names.ts";

/** What curves are drawn of. */
export interface CurveOptions {
  /** A category of the axis each; `undefined` leaves a gap. */
  readonly shapes: readonly (Shape | undefined)[];
  readonly labelOf: (shape: Shape) => string;
  readonly axisTitle: string;
  /** Empty where another chart has it. */
  readonly valueTitle: string;
  readonly range: Range;
  /** Whether the kernels' names stand at the ends of their curves. */
  readonly names: boolean;
  /** Degrees by which the names of shapes are turned. @default {0} */
  readonly turn?: number;
  /** Draws over the chart. */
  readonly over?: (chart: Chart) => void;
}

/** The range of every time at `shapes`, and of light there. */
export function latencyRange(
  data: PlotData,
  shapes: readonly Shape[],
): Range | undefined {
  const values = shapes.flatMap((shape) => [
    ...data.kernels.flatMap((kernel) => {
      const entry = data.at(shape, kernel);
      return entry?.us === undefined ? [] : [entry.us, entry.q3];
    }),
    ...lightOf(data, shape),
  ]);
  return values.length > 0 ? rangeOf(values) : undefined;
}

/** Draws curves in `box`. */
export function drawCurves(
  paper: Paper,
  data: PlotData,
  { box, ...options }: CurveOptions & { readonly box: Box },
): void {
  const { shapes, labelOf, range, names } = options;
  const { theme } = paper;
  const datasets = data.kernels.map((kernel): ChartDataset<"line"> => {
    const { color } = data.looks.get(kernel)!;
    return {
      label: kernel,
      data: shapes.map((shape) => shape && data.at(shape, kernel)?.us || NaN),
      borderColor: color,
      backgroundColor: color,
      borderWidth: 1.8,
      pointRadius: 0,
      clip: false,
    };
  });
  const light = shapes.map((shape) => shape && lightOf(data, shape)[0] || NaN);
  const room = names ? roomForNames(paper, data, shapes) : 0;
  paper.chart({ ...box, width: box.width - room }, {
    type: "line",
    data: {
      labels: shapes.map((shape) => shape ? labelOf(shape) : ""),
      datasets: [...datasets, {
        label: LIGHT,
        data: light,
        borderColor: theme.dim,
        borderWidth: 1.2,
        pointRadius: 0,
      }],
    },
    options: {
      plugins: { legend: { display: false } },
      scales: {
        x: nameAxis(theme, options.axisTitle, { turn: options.turn ?? 0 }),
        y: valueAxis(theme, options.valueTitle, range),
      },
    },
  }, (chart) => {
    drawQuartiles(paper, data, { chart, shapes });
    drawMarks(paper, data, { chart, shapes });
    drawFailures(paper, data, { chart, shapes });
    if (names) drawNames(paper, data, { chart, shapes, light });
    options.over?.(chart);
  });
}

function drawQuartiles(paper: Paper, data: PlotData, { chart, shapes }: Drawn) {
  const { x, y } = chart.scales;
  paper.pen.save();
  paper.pen.globalAlpha = 0.4;
  for (const kernel of data.kernels) {
    const { color } = data.looks.get(kernel)!;
    for (const [i, shape] of shapes.entries()) {
      const entry = shape && data.at(shape, kernel);
      if (entry?.us === undefined || entry.q3 === entry.q1) continue;
      const at = x!.getPixelForValue(i);
      const [low, high] = [entry.q1, entry.q3].map((us) =>
        y!.getPixelForValue(us)
      );
      paper.line([[at, low!], [at, high!]], { color, width: 2 });
    }
  }
  paper.pen.restore();
}

/** The marks of every time; those of the first kernel lie on top. */
function drawMarks(paper: Paper, data: PlotData, { chart, shapes }: Drawn) {
  const { x, y } = chart.scales;
  for (const kernel of data.kernels.toReversed()) {
    const look = data.looks.get(kernel)!;
    for (const [i, shape] of shapes.entries()) {
      const us = shape && data.at(shape, kernel)?.us;
      if (us === undefined) continue;
      const place = [x!.getPixelForValue(i), y!.getPixelForValue(us)] as const;
      drawMark(paper, place, look);
    }
  }
}

/** A cross above the axis for every case without a time, in the colour of its kernel. */
function drawFailures(paper: Paper, data: PlotData, { chart, shapes }: Drawn) {
  for (const [i, shape] of shapes.entries()) {
    if (!shape) continue;
    const failed = data.kernels.filter((kernel) =>
      data.at(shape, kernel)?.us === undefined
    );
    for (const [above, kernel] of failed.entries()) {
      const { color } = data.looks.get(kernel)!;
      const at = chart.scales.x!.getPixelForValue(i);
      const height = chart.chartArea.bottom - 10 - 13 * above;
      drawCross(paper, [at, height], color);
    }
  }
}

/** Whether the rows say what light would take. */
export function hasLight(data: PlotData): boolean {
  return data.shapes.some((shape) => lightOf(data, shape).length > 0);
}

function lightOf(data: PlotData, shape: Shape): number[] {
  for (const kernel of data.kernels) {
    const text = data.at(shape, kernel)?.row.sol_us ?? "";
    if (text !== "") return [Number(text)];
  }
  return [];
}

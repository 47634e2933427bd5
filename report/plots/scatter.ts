/**
 * Cases as points between two axes, with lines that were measured.
 *
 * @module
 */

import type { ChartDataset } from "chart.js";
import type { Box, Paper, Place } from "../paper.ts";
import type { Range } from "./axes.ts";
import type { PlotData } from "./data.ts";

/** What a scatter is drawn of, in the units of its axes. */
export interface Scatter {
  readonly box: Box;
  readonly points: readonly {
    readonly kernel: string;
    readonly place: Place;
  }[];
  readonly lines: readonly (readonly Place[])[];
  /** Axes as chart.js takes them. */
  readonly axes: { readonly x: object; readonly y: object };
  /** Writes over it, given where on the paper a point is. */
  over(at: (point: Place) => Place): void;
}

/** Draws points in the colours and marks of their kernels. */
export function drawScatter(paper: Paper, data: PlotData, scatter: Scatter) {
  const { box, points, lines, axes } = scatter;
  const xy = (places: readonly Place[]) => places.map(([x, y]) => ({ x, y }));
  const kernels = data.kernels.map((kernel): ChartDataset<"scatter"> => {
    const { color, mark } = data.looks.get(kernel)!;
    const own = points.filter((point) => point.kernel === kernel);
    return {
      data: xy(own.map(({ place }) => place)),
      pointStyle: mark,
      pointRadius: 3.5,
      borderColor: color,
      backgroundColor: color,
      borderWidth: /cross|star/i.test(mark) ? 1.3 : 0,
    };
  });
  const drawn = lines.map((places): ChartDataset<"scatter"> => ({
    data: xy(places),
    showLine: true,
    pointRadius: 0,
    borderColor: paper.theme.ink,
    borderWidth: 1.4,
  }));
  paper.chart(box, {
    type: "scatter",
    data: { datasets: [...drawn, ...kernels] },
    options: { plugins: { legend: { display: false } }, scales: { ...axes } },
  }, ({ scales }) => {
    scatter.over(([x, y]) => [
      scales.x!.getPixelForValue(x),
      scales.y!.getPixelForValue(y),
    ]);
  });
}

/** A logarithmic range with some room at its ends. */
export function roomyRange(values: readonly number[], room: number): Range {
  return {
    type: "logarithmic",
    min: Math.min(...values) / room,
    max: Math.max(...values) * room,
  };
}

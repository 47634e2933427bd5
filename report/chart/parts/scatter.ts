/**
 * Cases as points between two axes, with lines that were measured.
 *
 * @module
 */

import type { ChartDataset } from "chart.js";
import { drawMark } from "../canvas/marks.ts";
import type { Box, Paper, Place } from "../canvas/paper.ts";
import type { Range } from "../../model/scale.ts";
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
  /** Writes over it, given where on the paper a point is, and where all of them are. */
  over(at: (point: Place) => Place, seen: readonly Place[]): void;
}

/** Draws points in the colours and marks of their kernels. */
export function drawScatter(paper: Paper, data: PlotData, scatter: Scatter) {
  const { box, points, lines, axes } = scatter;
  const xy = (places: readonly Place[]) => places.map(([x, y]) => ({ x, y }));
  const drawn = lines.map((places): ChartDataset<"scatter"> => ({
    data: xy(places),
    showLine: true,
    pointRadius: 0,
    borderColor: paper.theme.ink,
    borderWidth: 1.4,
  }));
  paper.chart(box, {
    type: "scatter",
    data: { datasets: drawn },
    options: { plugins: { legend: { display: false } }, scales: { ...axes } },
  }, ({ scales }) => {
    const at = ([x, y]: Place): Place => [
      scales.x!.getPixelForValue(x),
      scales.y!.getPixelForValue(y),
    ];
    // The first kernel's lie on top.
    for (const kernel of data.kernels.toReversed()) {
      const look = { ...data.looks.get(kernel)!, size: 3.5 };
      for (const point of points) {
        if (point.kernel === kernel) drawMark(paper, at(point.place), look);
      }
    }
    const seen = points.map(({ place }) => at(place));
    scatter.over(at, seen);
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

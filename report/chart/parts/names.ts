/**
 * Names of kernels at the ends of their curves: no legend is to be looked up.
 *
 * @module
 */

import type { Chart } from "chart.js";
import { inkOf } from "../canvas/color.ts";
import type { Paper } from "../canvas/paper.ts";
import { type PlotData, type Shape, statusOf } from "./data.ts";
import { spread } from "./spread.ts";

/** What the speed of light is called in pictures. */
export const LIGHT = "speed of light";

/** A chart of curves, and what its categories are. */
export interface Drawn {
  readonly chart: Chart;
  readonly shapes: readonly (Shape | undefined)[];
}

const NAME = { size: 13, bold: true } as const;
/** From a chart to its names, CSS pixels. */
const AWAY = 22;

/** Writes the names, apart from each other, with a line to where each curve ends. */
export function drawNames(
  paper: Paper,
  data: PlotData,
  { chart, shapes, light }: Drawn & { readonly light: readonly number[] },
) {
  const { right, top, bottom } = chart.chartArea;
  const { x, y } = chart.scales;
  const lines = data.kernels.map((kernel) => {
    const times = shapes.map((shape) =>
      shape && data.at(shape, kernel)?.us || NaN
    );
    const last = times.findLastIndex((us) => !Number.isNaN(us));
    const text = nameOf(data, kernel, shapes);
    const { color } = data.looks.get(kernel)!;
    return { text, color, last, us: times[last] };
  });
  const last = light.findLastIndex((us) => !Number.isNaN(us));
  if (last >= 0) {
    const color = paper.theme.dim;
    lines.push({ text: LIGHT, color, last, us: light[last]! });
  }
  const wanted = lines.map(({ us }) =>
    us === undefined ? bottom - 10 : y!.getPixelForValue(us)
  );
  const heights = spread(wanted, { gap: 16, from: top + 6, to: bottom - 6 });
  for (const [i, { text, color, last }] of lines.entries()) {
    const [from, to] = [wanted[i]!, heights[i]!];
    const start = last < 0 ? right : x!.getPixelForValue(last) + 6;
    const places: [number, number][] = [[start, from], [right + 4, from]];
    paper.pen.save();
    paper.pen.globalAlpha = 0.55;
    if (last >= 0) paper.line([...places, [right + AWAY - 4, to]], { color });
    paper.pen.restore();
    paper.text(text, [right + AWAY, to], {
      ...NAME,
      color: inkOf(color, paper.theme),
    });
  }
}

/** A kernel's name and, where it has no time, how often and why: `mine: wrong at 3`. */
function nameOf(
  data: PlotData,
  kernel: string,
  shapes: readonly (Shape | undefined)[],
): string {
  const entries = shapes.filter((shape) => shape !== undefined)
    .map((shape) => data.at(shape, kernel))
    .filter((entry) => entry?.us === undefined);
  if (entries.length === 0) return kernel;
  const statuses = [...Map.groupBy(entries, statusOf)];
  return `${kernel}: ${
    statuses.map(([status, all]) => `${status} at ${all.length}`).join(", ")
  }`;
}

/** The room that they take to the right of a chart. */
export function roomForNames(
  paper: Paper,
  data: PlotData,
  shapes: readonly (Shape | undefined)[],
): number {
  const names = data.kernels.map((kernel) => nameOf(data, kernel, shapes));
  return AWAY + 8 + Math.max(
    ...[...names, LIGHT].map((name) => paper.widthOf(name, NAME)),
  );
}

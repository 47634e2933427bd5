/**
 * How much faster than the baseline each kernel is over all shapes.
 *
 * @module
 */

import { geomean as geomeanOf, quantile } from "../../bench/measure/stats.ts";
import type { Picture } from "./canvas/canvas.ts";
import { drawHatch } from "./canvas/marks.ts";
import { inkOf } from "./canvas/color.ts";
import type { Box, Paper } from "./canvas/paper.ts";
import { type PlotData, speedupOf, suspectNote } from "./parts/data.ts";
import { frame, FRAME_HEIGHT } from "./parts/frame.ts";

const ROW = 46;
const HEAD = 8;
const FOOT = 46;
const VALUES = 250;

interface Bar {
  readonly kernel: string;
  /** Speed-ups at the shapes where both have a time. */
  readonly factors: readonly number[];
  readonly mean: number | undefined;
}

/** The bars, the fastest first. */
export function geomean(data: PlotData): readonly Picture[] | string {
  const { baseline } = data;
  if (baseline === undefined) return "no case has a time";
  const bars = data.kernels.map((kernel): Bar => {
    const factors = data.shapes
      .map((shape) => speedupOf(data, shape, [kernel, baseline]))
      .filter((factor) => factor !== undefined);
    return { kernel, factors, mean: geomeanOf(factors) };
  }).toSorted((a, b) => (b.mean ?? 0) - (a.mean ?? 0));
  return [{
    name: "geomean",
    width: 1000,
    height: FRAME_HEIGHT + HEAD + FOOT + ROW * bars.length,
    draw(paper) {
      const box = frame(paper, data, {
        title: `Speed-up over ${baseline}, all shapes`,
        note:
          `Bar: geometric mean over the shapes where both have a time. Thick line: the middle half of the shapes; thin line: all of them; ticks: each shape${
            suspectNote(data)
          }`,
      });
      drawBars(paper, data, { box, bars, baseline });
    },
  }];
}

function drawBars(
  paper: Paper,
  data: PlotData,
  { box, bars, baseline }: {
    box: Box;
    bars: readonly Bar[];
    baseline: string;
  },
): void {
  const { theme } = paper;
  const names = Math.max(
    ...bars.map(({ kernel }) =>
      paper.widthOf(kernel, { size: 13, bold: true })
    ),
  ) + 16;
  const area = {
    x: box.x + names,
    y: box.y + HEAD,
    width: box.width - names - VALUES,
    height: ROW * bars.length,
  };
  const all = bars.flatMap(({ factors }) => factors);
  const { ticks, at } = axisOf([1, ...all], area);
  for (const tick of ticks) {
    const one = tick === 1;
    paper.line([[at(tick), area.y], [at(tick), area.y + area.height + 5]], {
      color: one ? theme.ink : theme.grid,
      width: one ? 1.4 : 1,
    });
    paper.text(`${tick}×`, [at(tick), area.y + area.height + 15], {
      align: "center",
    });
  }
  paper.text(
    `times as fast as ${baseline}, logarithmic`,
    [area.x + area.width / 2, area.y + area.height + 34],
    { size: 13, align: "center" },
  );
  for (const [i, bar] of bars.entries()) {
    const middle = area.y + ROW * (i + 0.5);
    drawBar(paper, data, { bar, middle, at, area });
    paper.text(bar.kernel, [area.x - 12, middle], {
      size: 13,
      bold: true,
      align: "right",
    });
    paper.text(bar.kernel === baseline ? "baseline" : valueOf(bar, data), [
      area.x + area.width + 16,
      middle,
    ], {
      size: 12,
      color: theme.dim,
    });
  }
}

function drawBar(
  paper: Paper,
  data: PlotData,
  { bar: { kernel, factors, mean }, middle, at, area }: {
    bar: Bar;
    middle: number;
    at: (factor: number) => number;
    area: Box;
  },
): void {
  if (mean === undefined) {
    const height = ROW * 0.5;
    return drawHatch(paper, { ...area, y: middle - height / 2, height });
  }
  const look = data.looks.get(kernel)!;
  const ink = inkOf(look.color, paper.theme);
  const [from, to] = [at(1), at(mean)].toSorted((a, b) => a - b);
  paper.pen.save();
  paper.pen.globalAlpha = 0.75;
  paper.fill(
    { x: from!, y: middle - 11, width: Math.max(2, to! - from!), height: 22 },
    look.color,
  );
  paper.pen.restore();
  for (const factor of factors) {
    const x = at(factor);
    paper.line([[x, middle + 13], [x, middle + 19]], { color: ink });
  }
  const quarter = (p: number) =>
    at(quantile(factors.toSorted((a, b) => a - b), p));
  const { ink: plain } = paper.theme;
  paper.line([[quarter(0), middle], [quarter(1), middle]], { color: plain });
  paper.line([[quarter(0.25), middle], [quarter(0.75), middle]], {
    color: plain,
    width: 4,
  });
}

function valueOf({ factors, mean }: Bar, { shapes }: PlotData): string {
  const count = `${factors.length} of ${shapes.length} shapes`;
  if (mean === undefined) return `no time, ${count}`;
  const ends = [Math.min(...factors), Math.max(...factors)]
    .map((factor) => factor.toFixed(2)).join("–");
  return `${mean.toFixed(3)}×  (${ends}), ${count}`;
}

/** A logarithmic axis with round ticks. */
function axisOf(values: readonly number[], { x, width }: Box) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const ratio = most / least;
  const steps = ratio < 2.5
    ? [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2]
    : [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500];
  const low = steps.findLast((step) => step <= least) ?? least;
  const high = steps.find((step) => step >= most) ?? most;
  const span = Math.log(high / low) || 1;
  return {
    ticks: steps.filter((step) => step >= low && step <= high),
    at: (factor: number) => x + width * Math.log(factor / low) / span,
  };
}

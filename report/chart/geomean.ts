/**
 * Draws how many times as fast as the baseline each kernel is over all shapes.
 *
 * @module
 */

import { geomean as geomeanOf, quantile } from "../../bench/measure/stats.ts";
import { speedup } from "../model/pivot.ts";
import { nameAxis, type Range, rangeOf, tickText, valueAxis } from "./axes.ts";
import { type ChartData, suspectNote, withoutBaseline } from "./data.ts";
import { frame, FRAME_HEIGHT, type Picture } from "./frame.ts";
import type { Box, Paper, Place } from "./paper.ts";
import { inkOf } from "./theme.ts";

const ROW = 46;
const FOOT = 54;
/** The width of the column of values, CSS pixels. */
const VALUES = 250;

interface Bar {
  readonly kernel: string;
  /** The speed-ups at the shapes where the kernel and the baseline have a time, ascending. */
  readonly factors: readonly number[];
  readonly mean: number | undefined;
}

/** Draws the bars, the fastest first. */
export function geomean(data: ChartData): readonly Picture[] | string {
  const { pivot: { baseline, shapes }, kernels } = data;
  if (baseline === undefined) return withoutBaseline(data);
  const bars = kernels.map((kernel): Bar => {
    const factors = shapes.map((shape) => speedup(shape, kernel, baseline))
      .filter((factor) => factor !== undefined).toSorted((a, b) => a - b);
    return { kernel, factors, mean: geomeanOf(factors) };
  }).toSorted((a, b) => (b.mean ?? 0) - (a.mean ?? 0));
  const all = bars.flatMap(({ factors }) => factors);
  const range = rangeOf([1, ...all], { type: "logarithmic" });
  return [{
    name: "geomean",
    width: 1000,
    height: FRAME_HEIGHT + FOOT + ROW * bars.length,
    draw(paper) {
      const box = frame(paper, data, {
        title: `Speed-up over ${baseline}, all shapes`,
        note:
          `Bar: geometric mean over the shapes where both have a time. Thick line: the middle half of the shapes; thin line: all of them; ticks: each shape${
            suspectNote(data)
          }`,
      });
      drawBars(paper, data, { box, bars, range });
    },
  }];
}

function drawBars(
  paper: Paper,
  data: ChartData,
  { box, bars, range }: {
    readonly box: Box;
    readonly bars: readonly Bar[];
    readonly range: Range;
  },
): void {
  const { pivot: { baseline, shapes } } = data;
  paper.chart({ ...box, width: box.width - VALUES }, {
    type: "bar",
    data: {
      labels: bars.map(({ kernel }) => kernel),
      datasets: [{
        data: bars.map(({ mean }): [number, number] | null =>
          mean === undefined ? null : [1, mean]
        ),
        backgroundColor: bars.map(({ kernel }) =>
          `${data.looks.get(kernel)!.color}bf`
        ),
        minBarLength: 2,
        barThickness: 22,
      }],
    },
    options: {
      indexAxis: "y",
      scales: {
        x: valueAxis(
          paper,
          `times as fast as ${baseline}, logarithmic`,
          range,
          { text: (factor) => `${tickText(factor)}×` },
        ),
        y: nameAxis(paper, ""),
      },
    },
  }, ({ scales, chartArea: { left, right, top, bottom } }) => {
    const one = scales.x!.getPixelForValue(1);
    paper.line([[one, top], [one, bottom]], {
      color: paper.theme.ink,
      width: 1.4,
    });
    for (const [i, bar] of bars.entries()) {
      const y = scales.y!.getPixelForValue(i);
      const place = (factor: number): Place => [
        scales.x!.getPixelForValue(factor),
        y,
      ];
      if (bar.mean === undefined) {
        paper.hatch({
          x: left,
          y: y - ROW / 4,
          width: right - left,
          height: ROW / 2,
        });
      } else drawFactors(paper, data, { bar, place });
      const words = bar.kernel === baseline
        ? "baseline"
        : valueOf(bar, shapes.length);
      paper.text(words, [right + 16, y], { color: paper.theme.dim });
    }
  });
}

/** Draws a tick for each factor, a line over their range, and a thick one between their quartiles. */
function drawFactors(
  paper: Paper,
  { looks }: ChartData,
  { bar: { kernel, factors }, place }: {
    readonly bar: Bar;
    readonly place: (factor: number) => Place;
  },
): void {
  const { ink } = paper.theme;
  const color = inkOf(looks.get(kernel)!.color, paper.theme);
  for (const factor of factors) {
    const [x, y] = place(factor);
    paper.line([[x, y + 13], [x, y + 19]], { color });
  }
  const at = (p: number) => place(quantile(factors, p));
  paper.line([at(0), at(1)], { color: ink });
  paper.line([at(0.25), at(0.75)], { color: ink, width: 4 });
}

function valueOf({ factors, mean }: Bar, shapes: number): string {
  const count = `${factors.length} of ${shapes} shapes`;
  if (mean === undefined) return `no time, ${count}`;
  const ends = [factors[0]!, factors.at(-1)!]
    .map((factor) => factor.toFixed(2)).join("–");
  return `${mean.toFixed(3)}×  (${ends}), ${count}`;
}

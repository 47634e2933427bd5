/**
 * Draws one case's samples: dots in their order, a running median, and a histogram at the side.
 *
 * @module
 */

import type { Chart } from "chart.js";
import { median, quantile } from "../../bench/measure/stats.ts";
import { rangeOf, valueAxis } from "./axes.ts";
import type { Box, Paper, Place } from "./paper.ts";
import { inkOf } from "./theme.ts";

const AXIS = 60;
const HISTOGRAM = 90;
const BINS = 34;
/**
 * Heights above and below the dots, CSS pixels: for half of the uppermost tick's text, and for the
 * caption.
 */
const HEAD = 8;
const FOOT = 18;
/** The most dots of a strip. More would hide each other and make files large. */
const MOST = 240;
/** The most parts of a repeat for its running median, which has one point for each part. */
const PARTS = 24;
/** The least samples of a part. The median of fewer varies nearly as much as the samples. */
const LEAST = 5;

/** Draws samples in microseconds, a list for each repeat, in `box`. */
export function drawStrip(
  paper: Paper,
  { box, repeats, color }: {
    readonly box: Box;
    readonly repeats: readonly (readonly number[])[];
    readonly color: string;
  },
): void {
  const all = repeats.flat();
  const sorted = all.toSorted((a, b) => a - b);
  // A few outliers far above would flatten all others: they are drawn at the upper edge.
  const usual = Math.max(quantile(sorted, 0.99), sorted[0]! * 1.02);
  const range = rangeOf([sorted[0]!, usual], {
    type: "linear",
    fromZero: false,
  });
  const chart = {
    x: box.x,
    y: box.y + HEAD,
    width: box.width - HISTOGRAM,
    height: box.height - HEAD - FOOT,
  };
  paper.chart(chart, {
    type: "scatter",
    data: { datasets: [] },
    options: {
      scales: {
        x: { type: "linear", display: false, min: -0.5, max: all.length - 0.5 },
        y: valueAxis(paper, "µs", range, { room: AXIS }),
      },
    },
  }, (drawn) => {
    const { left, right, top, bottom } = drawn.chartArea;
    const y = drawn.scales.y!;
    const places = all.map((us, i): Place => [
      drawn.scales.x!.getPixelForValue(i),
      y.getPixelForValue(Math.min(us, range.max)),
    ]);
    drawDots(paper, places, color);
    drawHistogram(paper, {
      heights: places.map(([, at]) => at),
      color,
      box: {
        x: right + 8,
        y: top,
        width: box.x + box.width - right - 8,
        height: bottom - top,
      },
    });
    drawMedians(paper, { drawn, repeats, color });
    const above = all.filter((us) => us > range.max).length;
    const words = [
      `${all.length} samples`,
      repeats.length > 1 ? ` in ${repeats.length} runs` : "",
      above > 0 ? `, ${above} above the edge` : "",
    ];
    const style = { size: 10.5, color: paper.theme.dim };
    paper.text(words.join(""), [left, bottom + 10], style);
  });
}

function drawDots({ pen }: Paper, places: readonly Place[], color: string) {
  pen.save();
  pen.strokeStyle = color;
  pen.globalAlpha = 0.5;
  pen.lineWidth = places.length > 200 ? 2 : 3.2;
  pen.lineCap = "round";
  pen.beginPath();
  const step = Math.ceil(places.length / MOST);
  for (const [x, y] of places.filter((_, i) => i % step === 0)) {
    // A line of nearly no length with round ends is a dot, and shorter in SVG than a circle.
    pen.moveTo(x, y);
    pen.lineTo(x + 0.01, y);
  }
  pen.stroke();
  pen.restore();
}

function drawHistogram(
  paper: Paper,
  { heights, color, box }: {
    readonly heights: readonly number[];
    readonly color: string;
    readonly box: Box;
  },
): void {
  const counts = new Array<number>(BINS).fill(0);
  for (const at of heights) {
    const share = (at - box.y) / box.height;
    counts[Math.min(BINS - 1, Math.max(0, Math.floor(share * BINS)))]!++;
  }
  const unit = box.width / Math.max(...counts);
  const height = box.height / BINS;
  const { pen } = paper;
  pen.save();
  pen.strokeStyle = color;
  pen.globalAlpha = 0.5;
  pen.lineWidth = height - 0.8;
  pen.beginPath();
  for (const [bin, count] of counts.entries()) {
    if (count === 0) continue;
    const y = box.y + (bin + 0.5) * height;
    pen.moveTo(box.x, y);
    pen.lineTo(box.x + count * unit, y);
  }
  pen.stroke();
  pen.restore();
}

/** Draws the running median of each repeat, and a line between repeats. */
function drawMedians(
  paper: Paper,
  { drawn, repeats, color }: {
    readonly drawn: Chart;
    readonly repeats: readonly (readonly number[])[];
    readonly color: string;
  },
): void {
  const { scales, chartArea: { top, bottom } } = drawn;
  const xOf = (i: number) => scales.x!.getPixelForValue(i);
  let start = 0;
  for (const repeat of repeats) {
    if (start > 0) {
      const x = xOf(start - 0.5);
      paper.line([[x, top], [x, bottom]]);
    }
    const width = Math.max(LEAST, Math.ceil(repeat.length / PARTS));
    const places: Place[] = [];
    for (let at = 0; at < repeat.length; at += width) {
      const part = repeat.slice(at, at + width);
      places.push([
        xOf(start + at + (part.length - 1) / 2),
        scales.y!.getPixelForValue(median(part)),
      ]);
    }
    paper.line(places, { color: inkOf(color, paper.theme), width: 1.6 });
    start += repeat.length;
  }
}

/**
 * One case's samples: dots in their order, a running median, and a histogram at the side.
 *
 * @module
 */

import { inkOf } from "../canvas/color.ts";
import type { Box, Paper, Place } from "../canvas/paper.ts";
import { tickText } from "../../model/scale.ts";
import { ascending, medianOf, quantileOf } from "./order.ts";

const NAMES = 60;
const HISTOGRAM = 90;
const BINS = 34;
const FOOT = 18;
/** Dots on a strip: more would cover each other. */
const MOST = 1500;
/** Parts of a repeat that a running median has. */
const PARTS = 24;
/** Samples of a part: the median of fewer is not much calmer than they are. */
const LEAST = 5;

/** Draws samples in microseconds, a list for each repeat, in `box`. */
export function drawStrip(
  paper: Paper,
  { box, repeats, color }: {
    box: Box;
    repeats: readonly (readonly number[])[];
    color: string;
  },
): void {
  const { pen, theme } = paper;
  const all = repeats.flat();
  const sorted = ascending(all);
  // A few stragglers far above would flatten the rest; they are drawn on the edge.
  const low = quantileOf(sorted, 0);
  const high = Math.max(quantileOf(sorted, 0.99), low * 1.02);
  const room = (high - low) * 0.06;
  const area = {
    x: box.x + NAMES,
    y: box.y + 4,
    width: box.width - NAMES - HISTOGRAM,
    height: box.height - FOOT - 4,
  };
  const yOf = (us: number) =>
    area.y + area.height -
    (Math.min(us, high + room) - low + room) / (high - low + 2 * room) *
      area.height;
  const xOf = (i: number) => area.x + (i + 0.5) / all.length * area.width;
  for (const us of ticksWithin(low, high)) {
    const y = yOf(us);
    paper.line([[area.x, y], [box.x + box.width, y]], { color: theme.grid });
    paper.text(tickText(us), [area.x - 6, y], { size: 11, align: "right" });
  }
  paper.text("µs", [box.x + 6, area.y + area.height / 2], {
    size: 11,
    color: theme.dim,
    align: "center",
    turn: -Math.PI / 2,
  });
  pen.save();
  pen.fillStyle = color;
  pen.strokeStyle = color;
  pen.globalAlpha = 0.5;
  pen.lineWidth = all.length > 200 ? 2 : 3.2;
  pen.lineCap = "round";
  pen.beginPath();
  const step = Math.ceil(all.length / MOST);
  for (let i = 0; i < all.length; i += step) {
    // A stroke as good as without a length is a dot, and the shortest there is in SVG.
    pen.moveTo(xOf(i), yOf(all[i]!));
    pen.lineTo(xOf(i) + 0.01, yOf(all[i]!));
  }
  pen.stroke();
  drawHistogram(paper, { sorted, area, yOf, edge: box.x + box.width });
  pen.restore();
  let start = 0;
  for (const [r, repeat] of repeats.entries()) {
    if (r > 0) {
      const x = xOf(start - 0.5);
      paper.line([[x, area.y], [x, area.y + area.height]]);
    }
    const width = Math.max(LEAST, Math.ceil(repeat.length / PARTS));
    const places: Place[] = [];
    for (let at = 0; at < repeat.length; at += width) {
      const part = repeat.slice(at, at + width);
      places.push([
        xOf(start + at + (part.length - 1) / 2),
        yOf(medianOf(part)),
      ]);
    }
    paper.line(places, { color: inkOf(color, theme), width: 1.6 });
    start += repeat.length;
  }
  const { y, height } = area;
  paper.line([[area.x, y + height], [area.x + area.width, y + height]]);
  const count = `${all.length} samples${
    repeats.length > 1 ? ` in ${repeats.length} runs` : ""
  }`;
  const above = sorted.filter((us) => us > high + room).length;
  const beyond = above > 0 ? `, ${above} above the edge` : "";
  paper.text(`${count}${beyond}`, [area.x, y + height + 10], {
    size: 10.5,
    color: theme.dim,
  });
}

function drawHistogram(
  { pen }: Paper,
  { sorted, area, yOf, edge }: {
    sorted: readonly number[];
    area: Box;
    yOf: (us: number) => number;
    edge: number;
  },
): void {
  const counts = new Array<number>(BINS).fill(0);
  for (const us of sorted) {
    const share = (yOf(us) - area.y) / area.height;
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(share * BINS)));
    counts[bin]!++;
  }
  const from = area.x + area.width + 8;
  const unit = (edge - from) / Math.max(...counts);
  const height = area.height / BINS;
  pen.beginPath();
  for (const [bin, count] of counts.entries()) {
    if (count === 0) continue;
    pen.rect(from, area.y + bin * height + 0.4, count * unit, height - 0.8);
  }
  pen.fill();
}

/** Two to five round values from `low` to `high`. */
function ticksWithin(low: number, high: number): number[] {
  const rough = (high - low) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power)
    .findLast((candidate) => candidate <= rough * 1.0001) ?? power;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

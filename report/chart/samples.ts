/**
 * Draws samples in the order they were taken, in which drift and two modes are seen.
 *
 * @module
 */

import { timeOf } from "../model/sol.ts";
import { type ChartData, formatUs, shapeNames } from "./data.ts";
import { type Wander, wanderOf } from "./drift.ts";
import { frame, FRAME_HEIGHT, type Picture } from "./frame.ts";
import type { Box, Paper } from "./paper.ts";
import { drawStrip } from "./strip.ts";
import { inkOf } from "./theme.ts";

/** Strips on a picture; those beyond are counted in words. */
const MOST = 12;
const ACROSS = 2;
const HEIGHT = 128;
const CAPTION = 20;
const GAP = 28;

/** A drift that is worth a word; less is usual. */
const DRIFT = 0.02;

interface Strip {
  readonly kernel: string;
  readonly title: string;
  /** Microseconds, a list for each repeat. */
  readonly repeats: readonly (readonly number[])[];
  readonly wander: Wander;
}

/** Draws the strips of the cases that wander most, the worst first. */
export function samples(data: ChartData): readonly Picture[] | string {
  const strips = stripsOf(data);
  if (strips.length === 0) return "there are no samples of these rows";
  const shown = strips.slice(0, MOST);
  const lines = Math.ceil(shown.length / ACROSS);
  const wandering = strips.filter(({ wander }) => isWandering(wander)).length;
  return [{
    name: "samples",
    width: 1240,
    height: FRAME_HEIGHT + lines * (HEIGHT + CAPTION + 12),
    draw(paper) {
      const box = frame(paper, data, {
        title: "Samples in the order they were taken",
        note: `${wandering} of ${strips.length} cases drift by ${
          DRIFT * 100
        } % or have two modes; shown: the ${shown.length} that do so most. Line: running median; right: how often each value came`,
      });
      const width = (box.width - GAP * (ACROSS - 1)) / ACROSS;
      for (const [i, strip] of shown.entries()) {
        const x = box.x + (i % ACROSS) * (width + GAP);
        const y = box.y + Math.floor(i / ACROSS) * (HEIGHT + CAPTION + 12);
        drawOne(paper, data, { strip, box: { x, y, width, height: HEIGHT } });
      }
    },
  }];
}

function drawOne(
  paper: Paper,
  data: ChartData,
  { strip, box }: { strip: Strip; box: Box },
) {
  const { theme } = paper;
  const { color } = data.looks.get(strip.kernel)!;
  const middle = box.y + CAPTION / 2;
  const words = wordsOf(strip.wander);
  const room = box.width - paper.widthOf(words, { size: 12 }) - 12;
  const style = { size: 12.5, bold: true } as const;
  paper.text(strip.title, [box.x, middle], {
    ...style,
    size: paper.fittingSize(strip.title, room, style),
    color: inkOf(color, theme),
  });
  paper.text(words, [box.x + box.width, middle], {
    size: 12,
    color: theme.dim,
    align: "right",
  });
  drawStrip(paper, {
    box: { ...box, y: box.y + CAPTION },
    repeats: strip.repeats,
    color,
  });
}

function stripsOf(
  { pivot: { shapes }, kernels, samples }: ChartData,
): Strip[] {
  const labels = shapeNames(shapes);
  return shapes.flatMap((shape, at) =>
    kernels.flatMap((kernel): Strip[] => {
      const row = shape.rows.get(kernel);
      if (row === undefined || timeOf(row) === undefined) return [];
      const repeats = samples(row).filter(({ length }) => length > 0)
        .map((repeat) => repeat.map((ns) => ns / 1e3));
      if (repeats.length === 0) return [];
      const wander = repeats.map(wanderOf).toSorted((a, b) =>
        weightOf(b) - weightOf(a)
      )[0]!;
      return [{ kernel, title: `${kernel} at ${labels[at]}`, repeats, wander }];
    })
  ).toSorted((a, b) => weightOf(b.wander) - weightOf(a.wander));
}

/** Returns how much a case wanders, relative to its time. */
function weightOf({ drift = 0, drifts, modes }: Wander): number {
  const apart = modes === undefined ? 0 : modes.high / modes.low - 1;
  // What may be chance comes after all that is not.
  return Math.max(Math.abs(drift) * (drifts ? 1 : 1e-3), apart);
}

function isWandering(wander: Wander): boolean {
  return wander.modes !== undefined || isDrifting(wander);
}

function isDrifting({ drift = 0, drifts }: Wander): boolean {
  return drifts && Math.abs(drift) >= DRIFT;
}

function wordsOf(wander: Wander): string {
  const { drift, modes } = wander;
  if (drift === undefined) return "too few samples to judge";
  const sign = drift < 0 ? "−" : "+";
  const percent = `${sign}${Math.abs(drift * 100).toFixed(1)} %`;
  const drifts = isDrifting(wander) ? [`drift ${percent}`] : [];
  const two = modes === undefined ? [] : [
    `two modes: ${formatUs(modes.low)} (${
      Math.round(modes.share * 100)
    } %) and ${formatUs(modes.high)}`,
  ];
  return [...drifts, ...two].join(", ") || `steady, ${percent}`;
}

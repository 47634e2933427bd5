/**
 * Draws samples in the order they were taken, which shows drift and two modes.
 *
 * @module
 */

import { median, quantile } from "../../bench/measure/stats.ts";
import { timeOf } from "../model/sol.ts";
import { type ChartData, formatUs, shapeNames } from "./data.ts";
import { frame, FRAME_HEIGHT, NOTE, type Picture } from "./frame.ts";
import type { Box, Paper } from "./paper.ts";
import { drawStrip } from "./strip.ts";
import { inkOf } from "./theme.ts";

/** The most strips of a picture. The note says how many cases there are. */
const MOST = 12;
const ACROSS = 2;
const HEIGHT = 128;
const CAPTION = 20;
const GAP = 28;

/** The least drift that is named, as a share. Smaller ones are usual. */
const DRIFT = 0.02;

interface Strip {
  readonly kernel: string;
  readonly title: string;
  /** Microseconds, a list for each repeat. */
  readonly repeats: readonly (readonly number[])[];
  readonly instability: Instability;
}

/** Draws the strips of the least stable cases, the worst first. */
export function samples(data: ChartData): readonly Picture[] | string {
  const strips = stripsOf(data);
  if (strips.length === 0) return "there are no samples of these rows";
  const shown = strips.slice(0, MOST);
  const lines = Math.ceil(shown.length / ACROSS);
  const unstable =
    strips.filter(({ instability }) => isUnstable(instability)).length;
  return [{
    name: "samples",
    width: 1240,
    height: FRAME_HEIGHT + NOTE + lines * (HEIGHT + CAPTION + 12),
    draw(paper) {
      const box = frame(paper, data, {
        title: "Samples in the order they were taken",
        note: [
          `${unstable} of ${strips.length} cases drift or have two modes; shown: the ${shown.length} that do so most. Line: running median; right: how often each value came.`,
          `Drift is the change from the median of the first quarter of the samples to that of the last. It is named from ${
            DRIFT * 100
          } % on, where it is also more than ${LEAST_ERRORS} standard errors; less is within noise.`,
        ],
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
  const words = wordsOf(strip.instability);
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
      const instability = repeats.map(instabilityOf).toSorted((a, b) =>
        weightOf(b) - weightOf(a)
      )[0]!;
      return [{
        kernel,
        title: `${kernel} at ${labels[at]}`,
        repeats,
        instability,
      }];
    })
  ).toSorted((a, b) => weightOf(b.instability) - weightOf(a.instability));
}

/** Returns how unstable a case is: the larger of its drift and the distance of its modes, as shares. */
function weightOf({ drift = 0, drifts, modes }: Instability): number {
  const apart = modes === undefined ? 0 : modes.high / modes.low - 1;
  // Drift within noise counts little, so that such cases come last.
  return Math.max(Math.abs(drift) * (drifts ? 1 : 1e-3), apart);
}

function isUnstable(instability: Instability): boolean {
  return instability.modes !== undefined || isDrifting(instability);
}

function isDrifting({ drift = 0, drifts }: Instability): boolean {
  return drifts && Math.abs(drift) >= DRIFT;
}

function wordsOf(instability: Instability): string {
  const { drift, modes } = instability;
  if (drift === undefined) return "too few samples to judge";
  const sign = drift < 0 ? "−" : "+";
  const percent = `${sign}${Math.abs(drift * 100).toFixed(1)} %`;
  const drifts = isDrifting(instability) ? [`drift ${percent}`] : [];
  const two = modes === undefined ? [] : [
    `two modes: ${formatUs(modes.low)} (${
      Math.round(modes.share * 100)
    } %) and ${formatUs(modes.high)}`,
  ];
  return [...drifts, ...two].join(", ") ||
    `${percent} within noise`;
}

/** The behaviour of samples. */
interface Instability {
  /**
   * The median of the last quarter divided by that of the first, minus 1; undefined for fewer than
   * {@linkcode LEAST} samples.
   */
  readonly drift?: number;
  /** Whether the drift is more than {@linkcode LEAST_ERRORS} standard errors. */
  readonly drifts: boolean;
  /** Both modes, and the share of samples in the lower one; undefined if there is one mode. */
  readonly modes?: {
    readonly low: number;
    readonly high: number;
    readonly share: number;
  };
}

/** The least samples to look for drift and modes in. */
const LEAST = 20;
/** Standard errors from which on drift counts. Samples are not independent, so three are common. */
const LEAST_ERRORS = 5;
/** The least share of samples in a mode. A smaller group is a few outliers. */
const LEAST_SHARE = 0.08;
/**
 * The least distance of two modes in units of their spread. The halves of a normal distribution have
 * 2.6, those of a uniform one 3.5; two normal distributions that just show two humps have about 4.
 */
const LEAST_DISTANCE = 4.5;

/**
 * Returns the drift and the modes of `samples`, which are in the order they were taken.
 *
 * @example
 * ```ts
 * import { instabilityOf } from "./samples.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const rising = Array.from({ length: 100 }, (_, i) => 100 + i / 10);
 * strictEqual(instabilityOf(rising).drift?.toFixed(2), "0.07");
 * const coin = rising.map((_, i) => (i % 3 ? 100 : 120) + i % 5);
 * strictEqual(instabilityOf(coin).modes?.high, 122);
 * ```
 */
export function instabilityOf(samples: readonly number[]): Instability {
  if (samples.length < LEAST) return { drifts: false };
  const quarter = Math.floor(samples.length / 4);
  const first = median(samples.slice(0, quarter));
  const last = median(samples.slice(-quarter));
  const modes = modesOf(samples);
  return {
    drift: last / first - 1,
    drifts: Math.abs(last - first) > LEAST_ERRORS * errorOf(samples),
    ...(modes && { modes }),
  };
}

/** Returns the standard error of the difference of the medians of two quarters of `samples`. */
function errorOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  // In a normal distribution the quartiles are 1.349 standard deviations apart, and the standard
  // error of the median is 1.2533 times that of the mean.
  const deviation = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) /
    1.349;
  return 1.2533 * deviation * Math.sqrt(2 / Math.floor(samples.length / 4));
}

/**
 * Divides the samples into two parts of the least variance (Otsu's method); undefined unless they
 * are far apart.
 */
function modesOf(samples: readonly number[]): Instability["modes"] {
  const values = samples.toSorted((a, b) => a - b);
  const { length } = values;
  const sums = [0];
  const squares = [0];
  // Relative to the median: squares of whole times would lose the digits in which samples differ.
  const middle = values[length >> 1]!;
  for (const value of values) {
    const from = value - middle;
    sums.push(sums.at(-1)! + from);
    squares.push(squares.at(-1)! + from * from);
  }
  const part = (from: number, to: number) => {
    const count = to - from;
    const mean = (sums[to]! - sums[from]!) / count;
    const square = (squares[to]! - squares[from]!) / count;
    return { count, mean, variance: Math.max(0, square - mean * mean) };
  };
  const least = Math.max(2, Math.ceil(length * LEAST_SHARE));
  let best: { at: number; within: number } | undefined;
  for (let at = least; at <= length - least; at++) {
    if (values[at] === values[at - 1]) continue;
    const [low, high] = [part(0, at), part(at, length)];
    const within = low.count * low.variance + high.count * high.variance;
    if (best === undefined || within < best.within) best = { at, within };
  }
  if (best === undefined) return undefined;
  const [low, high] = [part(0, best.at), part(best.at, length)];
  // With a clock of coarse steps both parts may have no variance: the lower bound stands for a step.
  const spread = Math.max(
    Math.sqrt((low.variance + high.variance) / 2),
    middle * 1e-3,
  );
  if ((high.mean - low.mean) / spread < LEAST_DISTANCE) return undefined;
  return {
    low: median(values.slice(0, best.at)),
    high: median(values.slice(best.at)),
    share: best.at / length,
  };
}

/**
 * The chart of curves: values by category, drawn by chart.js into files and into the page.
 *
 * @module
 */

import type { Chart, ChartDataset } from "chart.js";
import { nameAxis, type Range, valueAxis } from "./axes.ts";
import { drawCross, drawMark, type LegendEntry } from "./palette.ts";
import type { Box, Paper, Place } from "./paper.ts";

/** A curve. Each list has one item for each category. */
export interface Series extends LegendEntry {
  /** `undefined` leaves a gap. */
  readonly values: readonly (number | undefined)[];
  /** The quartiles, drawn as vertical lines. */
  readonly spans?: readonly (readonly [number, number] | undefined)[];
  /** Whether the case has no value because it failed: it is drawn as a cross above the axis. */
  readonly failed?: readonly boolean[];
}

/** A chart of curves as data. */
export interface CurveChart {
  /** Empty for none. */
  readonly title: string;
  readonly categories: readonly string[];
  readonly categoryTitle: string;
  readonly valueTitle: string;
  readonly range: Range;
  /** Join the marks by lines; false where categories have no order. */
  readonly joined: boolean;
  /** The first is drawn over the others. */
  readonly series: readonly Series[];
}

/** Options of {@linkcode drawCurves}. */
interface CurveOptions {
  readonly box: Box;
  /** Degrees by which names of categories are turned. @default {0} */
  readonly turn?: number;
  /** The width of the axis of values, CSS pixels; 0 draws no ticks. @default {as needed} */
  readonly room?: number;
}

/**
 * Coordinates in a drawn chart, CSS pixels: the middle of each category, and the ends of the axis
 * of values.
 */
interface CurvePlaces {
  readonly xs: readonly number[];
  readonly top: number;
  readonly bottom: number;
}

/** Half the height of a mark, CSS pixels. */
const COVERED = 3;
/** The height of a chart's title, CSS pixels. */
const TITLE = 22;

/** Draws `chart`. @returns Where its categories and the axis of values are. */
export function drawCurves(
  paper: Paper,
  chart: CurveChart,
  { box, turn = 0, room }: CurveOptions,
): CurvePlaces {
  const head = chart.title === "" ? 0 : TITLE;
  const { series, range, categories, joined } = chart;
  const datasets = series.map((one): ChartDataset<"line"> => ({
    data: one.values.map((value) => value ?? NaN),
    borderColor: one.color,
    borderWidth: one.width ?? 1.8,
    borderDash: [...one.dash ?? []],
    showLine: joined || one.mark === undefined,
    pointRadius: 0,
    clip: false,
  }));
  const axis = room === undefined ? {} : { room };
  return paper.chart({ ...box, y: box.y + head, height: box.height - head }, {
    type: "line",
    data: { labels: [...categories], datasets },
    options: {
      scales: {
        x: nameAxis(paper, chart.categoryTitle, turn),
        y: valueAxis(paper, room === 0 ? "" : chart.valueTitle, range, axis),
      },
    },
  }, (drawn) => {
    const { left, right, top, bottom } = drawn.chartArea;
    if (head > 0) drawTitle(paper, chart.title, { left, right, y: box.y });
    drawSpans(paper, chart, drawn);
    drawMarks(paper, chart, drawn);
    drawFailures(paper, chart, drawn);
    const xs = categories.map((_, i) => drawn.scales.x!.getPixelForValue(i));
    return { xs, top, bottom };
  });
}

function drawTitle(
  paper: Paper,
  title: string,
  { left, right, y }: {
    readonly left: number;
    readonly right: number;
    readonly y: number;
  },
): void {
  const style = { size: 13, bold: true } as const;
  paper.text(title, [(left + right) / 2, y + TITLE / 2], {
    ...style,
    size: paper.fittingSize(title, right - left, style),
    align: "center",
  });
}

function drawSpans(paper: Paper, { series }: CurveChart, { scales }: Chart) {
  paper.pen.save();
  paper.pen.globalAlpha = 0.4;
  const yOf = (value: number) => scales.y!.getPixelForValue(value);
  for (const { spans = [], values, color } of series) {
    for (const [i, span] of spans.entries()) {
      const middle = values[i];
      if (span === undefined || middle === undefined) continue;
      const x = scales.x!.getPixelForValue(i);
      const ends = span.map((us): Place => [x, yOf(us)]);
      // A shorter line would be hidden by the mark.
      if (ends.every(([, y]) => Math.abs(y - yOf(middle)) < COVERED)) continue;
      paper.line(ends, { color, width: 2 });
    }
  }
  paper.pen.restore();
}

function drawMarks(paper: Paper, { series }: CurveChart, { scales }: Chart) {
  for (const { mark, color, values } of series.toReversed()) {
    if (mark === undefined) continue;
    for (const [i, value] of values.entries()) {
      if (value === undefined) continue;
      const x = scales.x!.getPixelForValue(i);
      drawMark(paper, [x, scales.y!.getPixelForValue(value)], { mark, color });
    }
  }
}

function drawFailures(paper: Paper, chart: CurveChart, drawn: Chart) {
  // The cross of the first curve is the uppermost, as its entry in the legend.
  const upwards = chart.series.toReversed();
  for (const i of chart.categories.keys()) {
    const x = drawn.scales.x!.getPixelForValue(i);
    const failed = upwards.filter((one) => one.failed?.[i]);
    for (const [above, { color }] of failed.entries()) {
      drawCross(paper, [x, drawn.chartArea.bottom - 10 - 13 * above], color);
    }
  }
}

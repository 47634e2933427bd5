/**
 * Draws each case below the measured limits of the device: its flop rate over its arithmetic
 * intensity, and its data rate over its least bytes. Small problems are limited by the latter.
 *
 * @module
 */

import { timeOf } from "../model/sol.ts";
import { type Range, rangeOf, valueAxis } from "./axes.ts";
import type { ChartData } from "./data.ts";
import { drawLegend, frame, type Picture } from "./frame.ts";
import { drawMark, type LegendEntry } from "./palette.ts";
import type { Box, Paper, Place } from "./paper.ts";

const GAP = 30;
/** The most dots of a picture. More would hide each other. */
const MOST_DOTS = 5000;
/** The dashes of limits. Colours belong to kernels, so limits differ by their dashes. */
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

/** A case with a time, in the units of a roofline. */
interface Dot {
  readonly kernel: string;
  /** Flops for each byte. */
  readonly intensity: number;
  /** 10¹² flops/s. */
  readonly tflops: number;
  /** The least bytes to move. */
  readonly bytes: number;
  /** 10⁹ bytes/s. */
  readonly gbps: number;
}

/** A measured limit, drawn as a line. */
interface Limit {
  readonly name: string;
  readonly places: readonly Place[];
}

/** Cases as points between two axes, with limits. */
interface ScatterChart {
  readonly x: readonly [title: string, range: Range];
  readonly y: readonly [title: string, range: Range];
  readonly points: readonly {
    readonly kernel: string;
    readonly place: Place;
  }[];
  readonly limits: readonly Limit[];
}

/** Draws the roofline, and beside it data rates over bytes below the measured load curve. */
export function roofline(data: ChartData): readonly Picture[] | string {
  const { pivot: { shapes }, kernels } = data;
  const dots = dotsOf(data);
  if (dots.length === 0) return "no row has a time, flops and bytes";
  if (dots.length > MOST_DOTS) return `${dots.length} dots would not be read`;
  const cases = shapes.length * kernels.length;
  const which = dots.length === cases
    ? `All ${cases} cases`
    : `${dots.length} of ${cases} cases, those with a time`;
  const charts = [roofOf(data, dots), loadOf(data, dots)];
  const limits = charts.flatMap(({ limits }) => limits);
  const lines = limits.length > 0
    ? "the lines were measured on this device"
    : "no line, since no limit of this device was measured";
  return [{
    name: "roofline",
    width: 1240,
    height: 660,
    draw(paper) {
      const box = frame(paper, data, {
        title: limits.length > 0 ? "Roofline" : "Rates",
        note:
          `${which}; left, kernels stand side by side around their shape's intensity; ${lines}`,
      });
      const styles = new Map(
        limits.map(({ name }, i): [string, LegendEntry] => [
          name,
          {
            name,
            color: paper.theme.ink,
            width: 1.4,
            dash: DASHES[i % DASHES.length]!,
          },
        ]),
      );
      const legend = [
        ...kernels.map((name) => ({ name, ...data.looks.get(name)! })),
        ...styles.values(),
      ];
      const head = drawLegend(paper, legend, box) + 14;
      const width = (box.width - GAP) / 2;
      for (const [i, chart] of charts.entries()) {
        drawScatter(paper, data, {
          chart,
          styles,
          box: {
            x: box.x + i * (width + GAP),
            y: box.y + head,
            width,
            height: box.height - head,
          },
        });
      }
    },
  }];
}

function dotsOf({ pivot: { shapes }, kernels }: ChartData): Dot[] {
  return shapes.flatMap(({ rows }) =>
    kernels.flatMap((kernel): Dot[] => {
      const row = rows.get(kernel);
      const us = timeOf(row);
      const [flops, bytes] = [Number(row?.flops), Number(row?.bytes)];
      if (us === undefined || !(flops > 0) || !(bytes > 0)) return [];
      return [{
        kernel,
        intensity: flops / bytes,
        tflops: flops / us / 1e6,
        bytes,
        gbps: bytes / us / 1e3,
      }];
    })
  );
}

/** Returns the chart of flop rates over intensities, with the measured peaks of the rows' types. */
function roofOf(data: ChartData, dots: readonly Dot[]): ScatterChart {
  const types = new Set(data.rows.map(({ a_type }) => a_type));
  const peaks = Object.entries(data.calibration?.peak ?? {})
    .filter(([type]) => types.has(type))
    .map(([name, flops]) => ({ name, tflops: flops / 1e12 }));
  const rates = (data.calibration?.load ?? [])
    .map(({ bytes, us }) => bytes / us / 1e3);
  const gbps = rates.length > 0 ? Math.max(...rates) : undefined;
  const knees = gbps === undefined
    ? []
    : peaks.map(({ tflops }) => tflops * 1e3 / gbps);
  const x = roomyRange([...dots.map((dot) => dot.intensity), ...knees], 2);
  const slope = (intensity: number) => gbps! * intensity / 1e3;
  const y = roomyRange([
    ...dots.map((dot) => dot.tflops),
    ...peaks.map(({ tflops }) => tflops),
    ...gbps === undefined ? [] : [slope(x.min)],
  ], 1.6);
  // Dots of kernels at one intensity are moved apart, or they would hide each other.
  const aside = (kernel: string) =>
    1.035 ** (data.kernels.indexOf(kernel) - (data.kernels.length - 1) / 2);
  const end = Math.max(
    ...knees,
    gbps === undefined ? 0 : Math.min(x.max, y.max * 1e3 / gbps),
  );
  return {
    x: ["arithmetic intensity (flop/byte)", x],
    y: ["rate (TFLOP/s)", y],
    points: dots.map(({ kernel, intensity, tflops }) => ({
      kernel,
      place: [intensity * aside(kernel), tflops],
    })),
    limits: [
      ...peaks.map(({ name, tflops }, i): Limit => ({
        name: `${
          Number(tflops.toPrecision(3))
        } TFLOP/s, the library's ${name} GEMM`,
        places: [[knees[i] ?? x.min, tflops], [x.max, tflops]],
      })),
      ...gbps === undefined ? [] : [{
        name: `${rateText(gbps)} read`,
        places: [[x.min, slope(x.min)], [end, slope(end)]] as const,
      }],
    ],
  };
}

/** Returns the chart of data rates over bytes, with the part of the load curve at these bytes. */
function loadOf(data: ChartData, dots: readonly Dot[]): ScatterChart {
  const sizes = dots.map(({ bytes }) => bytes);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const curve = (data.calibration?.load ?? [])
    .filter(({ bytes }) => bytes >= least / 4 && bytes <= most * 4)
    .map(({ bytes, us }): Place => [bytes / 1e6, bytes / us / 1e3]);
  const x = roomyRange([
    ...sizes.map((bytes) => bytes / 1e6),
    ...curve.map(([megabytes]) => megabytes),
  ], 1.15);
  const rates = [...dots.map(({ gbps }) => gbps), ...curve.map(([, y]) => y)];
  const near = rangeOf(rates);
  return {
    x: ["least data to move (MB)", x],
    y: ["rate (GB/s)", near.type === "linear" ? near : roomyRange(rates, 1.3)],
    points: dots.map(({ kernel, bytes, gbps }) => ({
      kernel,
      place: [bytes / 1e6, gbps],
    })),
    limits: curve.length > 0
      ? [{ name: "a kernel that only reads", places: curve }]
      : [],
  };
}

function drawScatter(
  paper: Paper,
  data: ChartData,
  { chart, styles, box }: {
    readonly chart: ScatterChart;
    readonly styles: ReadonlyMap<string, LegendEntry>;
    readonly box: Box;
  },
): void {
  const { x, y, points, limits } = chart;
  paper.chart(box, {
    type: "scatter",
    data: {
      datasets: limits.map(({ name, places }) => ({
        data: places.map(([x, y]) => ({ x, y })),
        showLine: true,
        pointRadius: 0,
        borderColor: styles.get(name)!.color,
        borderWidth: styles.get(name)!.width!,
        borderDash: [...styles.get(name)!.dash!],
      })),
    },
    options: {
      scales: { x: valueAxis(paper, ...x), y: valueAxis(paper, ...y) },
    },
  }, ({ scales }) => {
    // The dots of the first kernel are drawn last, over the others.
    for (const kernel of data.kernels.toReversed()) {
      const look = { ...data.looks.get(kernel)!, size: 3.5 };
      for (
        const { place: [px, py] } of points.filter((p) => p.kernel === kernel)
      ) {
        const at = [
          scales.x!.getPixelForValue(px),
          scales.y!.getPixelForValue(py),
        ] as const;
        drawMark(paper, at, look);
      }
    }
  });
}

/** Returns a logarithmic range that extends beyond `values` by the factor `room` at both ends. */
function roomyRange(values: readonly number[], room: number): Range {
  const ends = values.flatMap((value) => [value / room, value * room]);
  return rangeOf(ends, { type: "logarithmic" });
}

function rateText(gbps: number): string {
  const [value, unit] = gbps < 1000 ? [gbps, "GB/s"] : [gbps / 1000, "TB/s"];
  return `${Number(value.toPrecision(3))} ${unit}`;
}

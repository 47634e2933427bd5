/**
 * The rate of each case over its intensity, below the measured peaks.
 *
 * @module
 */

import type { Calibration } from "../../bench/measure/calibration.ts";
import type { Box, Paper, Place } from "./canvas/paper.ts";
import type { Range } from "../model/scale.ts";
import { valueAxis } from "./parts/axes.ts";
import type { PlotData } from "./parts/data.ts";
import type { Dot } from "./parts/dot.ts";
import { label } from "./parts/label.ts";
import { drawScatter, roomyRange } from "./parts/scatter.ts";

interface Roof {
  /** What its flat part is; empty of a slope alone. */
  readonly name: string;
  readonly places: readonly Place[];
}

/** A peak of the type `name`, 10¹² flops/s. */
interface Peak {
  readonly name: string;
  readonly tflops: number;
}

/** Draws the roofline. */
export function drawRoof(
  paper: Paper,
  data: PlotData,
  { box, dots }: { readonly box: Box; readonly dots: readonly Dot[] },
): void {
  const { theme } = paper;
  const types = new Set(data.rows.map(({ a_type }) => a_type));
  const peaks = Object.entries(data.calibration?.peak ?? {})
    .filter(([type]) => types.has(type))
    .map(([name, flops]): Peak => ({ name, tflops: flops / 1e12 }));
  const bandwidth = bandwidthOf(data.calibration);
  const knees = bandwidth === undefined
    ? []
    : peaks.map(({ tflops }) => tflops * 1e3 / bandwidth);
  const x = roomyRange([...dots.map((dot) => dot.intensity), ...knees], 2);
  const slope = (intensity: number) => bandwidth! * intensity / 1e3;
  const y = roomyRange([
    ...dots.map((dot) => dot.tflops),
    ...peaks.map(({ tflops }) => tflops),
    ...bandwidth === undefined ? [] : [slope(x.min)],
  ], 1.6);
  const roofs = roofsOf(peaks, bandwidth, { x, y });
  // Shapes of one intensity would cover each other: kernels stand side by side.
  const aside = (kernel: string) =>
    1.035 ** (data.kernels.indexOf(kernel) - (data.kernels.length - 1) / 2);
  drawScatter(paper, data, {
    box,
    points: dots.map(({ kernel, intensity, tflops }) => ({
      kernel,
      place: [intensity * aside(kernel), tflops],
    })),
    lines: roofs.map(({ places }) => places),
    axes: {
      x: valueAxis(theme, "arithmetic intensity (flop/byte)", x),
      y: valueAxis(theme, "rate (TFLOP/s)", y),
    },
    over: (at, seen) => {
      const style = { size: 11, color: theme.dim } as const;
      const taken = [...seen];
      for (const { name, places } of roofs) {
        if (name === "") continue;
        const along = places.slice(-2).map(at);
        taken.push(...label(paper, name, { along, taken }));
      }
      if (bandwidth === undefined) return;
      const [x0, y0] = at([x.min, slope(x.min)]);
      const [x1, y1] = at([x.min * 2, slope(x.min * 2)]);
      const turn = Math.atan2(y1 - y0, x1 - x0);
      const place: Place = [
        x0 + 14 * Math.cos(turn) + 10 * Math.sin(turn),
        y0 + 14 * Math.sin(turn) - 10 * Math.cos(turn),
      ];
      paper.text(`${rateText(bandwidth)} read`, place, { ...style, turn });
    },
  });
}

function roofsOf(
  peaks: readonly Peak[],
  bandwidth: number | undefined,
  { x, y }: { x: Range; y: Range },
): Roof[] {
  const named = peaks.map(({ name, tflops }) => ({
    name: `${
      Number(tflops.toPrecision(3))
    } TFLOP/s, the library's ${name} product`,
    tflops,
  }));
  if (bandwidth === undefined) {
    return named.map(({ name, tflops }) => ({
      name,
      places: [[x.min, tflops], [x.max, tflops]],
    }));
  }
  const from: Place = [x.min, bandwidth * x.min / 1e3];
  if (named.length === 0) {
    const end = Math.min(x.max, y.max * 1e3 / bandwidth);
    return [{ name: "", places: [from, [end, bandwidth * end / 1e3]] }];
  }
  return named.map(({ name, tflops }) => ({
    name,
    places: [from, [tflops * 1e3 / bandwidth, tflops], [x.max, tflops]],
  }));
}

/** 10⁹ bytes/s: the fastest that the load curve gets. */
function bandwidthOf(calibration: Calibration | undefined): number | undefined {
  const rates = (calibration?.load ?? [])
    .map(({ bytes, us }) => bytes / us / 1e3);
  return rates.length > 0 ? Math.max(...rates) : undefined;
}

function rateText(gbps: number): string {
  const [value, unit] = gbps < 1000 ? [gbps, "GB/s"] : [gbps / 1000, "TB/s"];
  return `${Number(value.toPrecision(3))} ${unit}`;
}

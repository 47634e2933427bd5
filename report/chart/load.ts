/**
 * The data rate of each case over its least data, below the measured load curve: of small
 * problems this, and not the roof, is the bound.
 *
 * @module
 */

import type { Box, Paper, Place } from "./canvas/paper.ts";
import { rangeOf } from "../model/scale.ts";
import { valueAxis } from "./parts/axes.ts";
import type { PlotData } from "./parts/data.ts";
import type { Dot } from "./parts/dot.ts";
import { label } from "./parts/label.ts";
import { drawScatter, roomyRange } from "./parts/scatter.ts";

/** Draws the cases and, of the load curve, what is near them. */
export function drawLoad(
  paper: Paper,
  data: PlotData,
  { box, dots }: { readonly box: Box; readonly dots: readonly Dot[] },
): void {
  const { theme } = paper;
  const sizes = dots.map(({ bytes }) => bytes);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const curve = (data.calibration?.load ?? [])
    .filter(({ bytes }) => bytes >= least / 4 && bytes <= most * 4)
    .map(({ bytes, us }): Place => [bytes / 1e6, bytes / us / 1e3]);
  const x = roomyRange([
    ...sizes.map((bytes) => bytes / 1e6),
    ...curve.map(([megabytes]) => megabytes),
  ], 1.15);
  const rates = [
    ...dots.map(({ gbps }) => gbps),
    ...curve.map(([, rate]) => rate),
  ];
  const near = rangeOf(rates);
  const y = near.type === "linear" ? near : roomyRange(rates, 1.3);
  drawScatter(paper, data, {
    box,
    points: dots.map(({ kernel, bytes, gbps }) => ({
      kernel,
      place: [bytes / 1e6, gbps],
    })),
    lines: curve.length > 0 ? [curve] : [],
    axes: {
      x: valueAxis(theme, "least data to move (MB)", x),
      y: valueAxis(theme, "rate (GB/s)", y),
    },
    over: (at, seen) => {
      if (curve.length === 0) return;
      label(paper, "a kernel that only reads", {
        along: curve.map(at),
        taken: seen,
      });
    },
  });
}

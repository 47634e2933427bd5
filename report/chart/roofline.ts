/**
 * How near each case is to what the device was measured to do.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import type { PlotData } from "./parts/data.ts";
import { frame } from "./parts/frame.ts";
import { legend } from "./parts/legend.ts";
import { drawLoad } from "./load.ts";
import { drawRoof } from "./roof.ts";
import type { Dot } from "./parts/dot.ts";

const GAP = 30;

/** The roofline, and the same cases by their bytes, below the measured load curve. */
export function roofline(data: PlotData): readonly Picture[] | string {
  const dots = dotsOf(data);
  if (dots.length === 0) return "no row has a time, flops and bytes";
  const cases = data.shapes.length * data.kernels.length;
  const which = dots.length === cases
    ? `All ${cases} cases`
    : `${dots.length} of ${cases} cases, those with a time`;
  const measured = hasLimits(data);
  const lines = measured
    ? "the lines were measured on this device"
    : "no line, since no limit of this device was measured";
  return [{
    name: "roofline",
    width: 1240,
    height: 660,
    draw(paper) {
      const box = frame(paper, data, {
        title: measured ? "Roofline" : "Rates",
        note:
          `${which}; left, kernels stand side by side around their shape's intensity; ${lines}`,
      });
      const { x, y, width } = box;
      const head = legend(paper, data, { x, y, width }) + 14;
      const half = {
        y: y + head,
        width: (width - GAP) / 2,
        height: box.height - head,
      };
      drawRoof(paper, data, { box: { ...half, x }, dots });
      const right = { ...half, x: x + half.width + GAP };
      drawLoad(paper, data, { box: right, dots });
    },
  }];
}

function hasLimits({ calibration, rows }: PlotData): boolean {
  if (calibration === undefined) return false;
  const { load, peak } = calibration;
  return load.length > 0 ||
    rows.some(({ a_type }) => Object.hasOwn(peak, a_type));
}

function dotsOf(data: PlotData): Dot[] {
  return data.shapes.flatMap((shape) =>
    data.kernels.flatMap((kernel): Dot[] => {
      const entry = data.at(shape, kernel);
      const flops = Number(entry?.row.flops);
      const bytes = Number(entry?.row.bytes);
      if (entry?.us === undefined || !(flops > 0) || !(bytes > 0)) return [];
      return [{
        kernel,
        intensity: flops / bytes,
        tflops: flops / entry.us / 1e6,
        bytes,
        gbps: bytes / entry.us / 1e3,
      }];
    })
  );
}

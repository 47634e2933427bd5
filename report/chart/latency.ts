/**
 * A picture for each group of shapes: latency along the size that differs.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import { drawCurves, latencyRange } from "./parts/curves.ts";
import type { PlotData } from "./parts/data.ts";
import { frame } from "./parts/frame.ts";
import { sweepOf } from "./parts/groups.ts";

/** Groups that get a picture each; of more, the overview is enough. */
const MOST = 24;

/** The pictures; nothing of a group without a time. */
export function latency(data: PlotData): readonly Picture[] | string {
  const { axis, groups } = sweepOf(data);
  if (groups.every(({ shapes }) => shapes.length < 2)) {
    return "no size varies while the others stay";
  }
  if (groups.length > MOST) {
    return `${groups.length} pictures would not be looked at: see overview`;
  }
  return groups.flatMap(({ label, slug, shapes }): Picture[] => {
    const range = latencyRange(data, shapes);
    if (range === undefined) return [];
    return [{
      name: `latency-${slug}`,
      width: 1000,
      height: 600,
      draw(paper) {
        const box = frame(paper, data, {
          title: `Latency, ${label}`,
          note:
            "Median of each kernel, with its quartiles; lower is better. A cross above the axis: no time, the label says why",
        });
        drawCurves(paper, data, {
          box,
          shapes,
          range,
          labelOf: (shape) => `${shape[axis]}`,
          axisTitle: axis.toUpperCase(),
          valueTitle: "latency (µs)",
          names: true,
        });
      },
    }];
  });
}

/**
 * The pictures of a suite, in the order of reading.
 *
 * @module
 */

import type { ChartData } from "./data.ts";
import type { Picture } from "./frame.ts";
import { geomean } from "./geomean.ts";
import { fastest, lead, speedup } from "./maps.ts";
import { overview } from "./overview.ts";
import { roofline } from "./roofline.ts";
import { samples } from "./samples.ts";

/** Returns the pictures of a suite, or why there are none. */
export type Plot = (data: ChartData) => readonly Picture[] | string;

/**
 * The largest picture: CSS pixels of a side, CSS pixels of its area, and kernels in its legend. A
 * larger one takes minutes to draw, and nobody could read it.
 */
const MOST = { side: 8000, area: 8e6, kernels: 200 };

/** Returns `plot`, changed to return a reason instead of pictures that are too large. */
function bounded(plot: Plot): Plot {
  return (data) => {
    const { kernels: { length } } = data;
    if (length > MOST.kernels) {
      return `${length} kernels would not be told apart`;
    }
    const pictures = plot(data);
    if (typeof pictures === "string") return pictures;
    const large = pictures.find(({ width, height }) =>
      Math.max(width, height) > MOST.side || width * height > MOST.area
    );
    if (large === undefined) return pictures;
    return `${Math.round(large.width)} × ${
      Math.round(large.height)
    } pixels would not be read`;
  };
}

/** Every plot, by name. */
export const plots: Readonly<Record<string, Plot>> = {
  overview: bounded(overview),
  speedup: bounded(speedup),
  geomean: bounded(geomean),
  lead: bounded(lead),
  fastest: bounded(fastest),
  roofline: bounded(roofline),
  samples: bounded(samples),
};

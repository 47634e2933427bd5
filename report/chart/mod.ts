/**
 * Every picture of a suite, in the order of reading.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import type { PlotData } from "./parts/data.ts";
import { fastest } from "./fastest.ts";
import { geomean } from "./geomean.ts";
import { latency } from "./latency.ts";
import { lead } from "./lead.ts";
import { overview } from "./overview.ts";
import { panels } from "./panels.ts";
import { roofline } from "./roofline.ts";
import { samples } from "./samples.ts";
import { speedup } from "./speedup.ts";

/** Draws pictures of a suite, or says why there are none. */
export type Plot = (data: PlotData) => readonly Picture[] | string;

/** Every plot, by name. */
export const plots: Readonly<Record<string, Plot>> = {
  overview,
  speedup,
  geomean,
  lead,
  fastest,
  latency,
  panels,
  roofline,
  samples,
};

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

/** Draws pictures of a suite, or says why there are none. */
export type Plot = (data: ChartData) => readonly Picture[] | string;

/** Every plot, by name. */
export const plots: Readonly<Record<string, Plot>> = {
  overview,
  speedup,
  geomean,
  lead,
  fastest,
  roofline,
  samples,
};

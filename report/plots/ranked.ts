/**
 * Kernels by their times at one shape.
 *
 * @module
 */

import type { PlotData, Shape } from "./data.ts";

/** A kernel, and its time in microseconds. */
export interface Ranked {
  readonly kernel: string;
  readonly us: number;
}

/** Those of `kernels` with a time at `shape`, fastest first; of equals the first given. */
export function ranked(
  data: Pick<PlotData, "at">,
  shape: Shape,
  kernels: readonly string[],
): Ranked[] {
  return kernels.flatMap((kernel): Ranked[] => {
    const us = data.at(shape, kernel)?.us;
    return us === undefined ? [] : [{ kernel, us }];
  }).toSorted((a, b) => a.us - b.us);
}

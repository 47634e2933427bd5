/**
 * Kernels by their times at one shape.
 *
 * @module
 */

import { type PlotData, type Shape, soundUs } from "./data.ts";

/** A kernel, and its time in microseconds. */
export interface Ranked {
  readonly kernel: string;
  readonly us: number;
}

/** Those of `kernels` with a time at `shape` that is not above SOL, fastest first; of equals the first given. */
export function ranked(
  data: Pick<PlotData, "at">,
  shape: Shape,
  kernels: readonly string[],
): Ranked[] {
  return kernels.flatMap((kernel): Ranked[] => {
    const us = soundUs(data.at(shape, kernel));
    return us === undefined ? [] : [{ kernel, us }];
  }).toSorted((a, b) => a.us - b.us);
}

/**
 * Suites in which each value of some tunables of a kernel is a kernel of its own, so that one run
 * measures all of them.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";

/** A kernel that has, of another one, the `most` best configs by its model that `keeps` accepts. */
export function variant<P>(
  kernel: Kernel<P>,
  name: string,
  most: number,
  keeps: (config: Values) => boolean,
): Kernel<P> {
  return {
    ...kernel,
    name,
    candidates: (point, info) =>
      [...kernel.candidates(point, info)]
        .filter(({ config, illegal }) => illegal === undefined && keeps(config))
        .toSorted((a, b) => a.predicted! - b.predicted!).slice(0, most),
  };
}

/** `kernel` with STAGGER=0, and as `NAME-stagger` with 1. */
export function staggered<P>(kernel: Kernel<P>, most: number): Kernel<P>[] {
  return [0, 1].map((value) =>
    variant(
      kernel,
      value ? `${kernel.name}-stagger` : kernel.name,
      most,
      ({ STAGGER }) => STAGGER === value,
    )
  );
}

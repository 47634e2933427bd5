/**
 * Order statistics.
 *
 * @module
 */

import { median, quantile } from "../../../bench/measure/stats.ts";

/** `values` from the least on. */
export function ascending(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

/** The median of at least one value. */
export function medianOf(values: readonly number[]): number {
  return median(values);
}

/** The quantile of values in ascending order. */
export function quantileOf(sorted: readonly number[], p: number): number {
  return quantile(sorted, p);
}

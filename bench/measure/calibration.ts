/**
 * What a device was measured to do at best.
 *
 * @module
 */

import { hasNumbers, isFields, isNumbers } from "../files/json_shape.ts";

/** What was measured of the device before any case. */
export interface Calibration {
  /** Median of an interval around nothing, µs. */
  readonly marker_us: number;
  /** Median of an interval around an empty launch, µs; the launch overhead. */
  readonly launch_us: number;
  /** The same by a replayed graph, µs; missing where there are no graphs. */
  readonly graph_us?: number;
  /** Median time of a kernel that only reads so many bytes, ascending. */
  readonly load: readonly { readonly bytes: number; readonly us: number }[];
  /** Flops per second of a large matrix product, by type; empty without a library. */
  readonly peak: Readonly<Record<string, number>>;
}

/** Whether `value` is what was measured of a device. */
export function isCalibration(value: unknown): value is Calibration {
  if (!isFields(value)) return false;
  const { load, peak, graph_us } = value;
  return hasNumbers(value, ["marker_us", "launch_us"]) &&
    (graph_us === undefined || typeof graph_us === "number") &&
    Array.isArray(load) && load.every((v) => hasNumbers(v, ["bytes", "us"])) &&
    isFields(peak) && isNumbers(Object.values(peak));
}

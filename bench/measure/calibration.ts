/**
 * The schema of what a device was measured to do at best.
 *
 * @module
 */

import {
  array,
  exactOptional,
  type InferOutput,
  number,
  object,
  pipe,
  readonly,
  record,
  string,
} from "valibot";

/** The schema of what was measured of a device before any case. */
export const calibrationSchema = object({
  /** Median of an interval around nothing, µs. */
  marker_us: number(),
  /** Median of an interval around an empty launch, µs; the launch overhead. */
  launch_us: number(),
  /** The same by a replayed graph, µs; missing where there are no graphs. */
  graph_us: exactOptional(number()),
  /** Median time of a kernel that only reads so many bytes, ascending. */
  load: pipe(array(object({ bytes: number(), us: number() })), readonly()),
  /** Flops per second of a large GEMM, by type; empty without a library. */
  peak: record(string(), number()),
});

/** What was measured of a device before any case. */
export type Calibration = Readonly<InferOutput<typeof calibrationSchema>>;

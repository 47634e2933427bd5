/**
 * Computes a row's figures from a case's samples, and the speed of light from a device's
 * calibration.
 *
 * @module
 */

import type { DType } from "../model/dtype.ts";
import { summarize } from "./stats.ts";
import type { Problem } from "../model/suite.ts";
import type { Figures } from "../row/row.ts";
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

/** The conditions under which samples were taken. */
export interface Taken {
  /** The device's measured limits, if they were measured. */
  readonly calibration: Calibration | undefined;
  /** True if a graph was replayed. */
  readonly graph: boolean;
  /**
   * True if the calibration's load curve is of the same timer; another's is of no use.
   *
   * @default {true}
   */
  readonly light?: boolean;
}

/** The figures of `samples`, in nanoseconds, of one run at `problem`. */
export function figuresOf(
  { key, work }: Pick<Problem, "key" | "work">,
  samples: readonly number[],
  { calibration, graph, light = true }: Taken,
): Figures {
  const { flops, bytes, type = key.a_type } = work;
  const ns = summarize(samples);
  const sol_us = calibration && light
    ? speedOfLight(calibration, { flops, bytes, type, graph })
    : undefined;
  return {
    median_us: ns.median / 1e3,
    q1_us: ns.q1 / 1e3,
    q3_us: ns.q3 / 1e3,
    min_us: ns.min / 1e3,
    mean_us: ns.mean / 1e3,
    samples: samples.length,
    runs: 1,
    flops,
    bytes,
    tflops: flops / ns.median / 1e3,
    gbps: bytes / ns.median,
    ...(sol_us === undefined ? {} : { sol_us }),
    floor_us: (graph ? calibration?.graph_us : calibration?.launch_us) ?? 0,
  };
}

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

/** Measurements of a device before any case. */
export type Calibration = Readonly<InferOutput<typeof calibrationSchema>>;

/**
 * The least time of `work` on a device so calibrated, in microseconds: reading its bytes
 * alone, or its flops at the peak on top of an empty launch, whichever is longer.
 * Undefined where neither was measured.
 */
export function speedOfLight(
  { load, peak, launch_us, graph_us }: Calibration,
  { flops, bytes, type, graph = false }: {
    flops: number;
    bytes: number;
    type: DType;
    graph?: boolean;
  },
): number | undefined {
  const rate = peak[type];
  const floor = graph ? graph_us ?? launch_us : launch_us;
  const limits = [
    ...(load.length > 1 ? [loadTime(load, bytes)] : []),
    ...(rate === undefined ? [] : [floor + flops / rate * 1e6]),
  ];
  return limits.length ? Math.max(...limits) : undefined;
}

/** Linear between the points of the curve, and on from its last two. */
function loadTime(load: Calibration["load"], bytes: number): number {
  const next = load.findIndex((point) => point.bytes >= bytes);
  if (next === 0) return load[0]!.us;
  const at = next < 0 ? load.length - 1 : next;
  const [low, high] = [load[at - 1]!, load[at]!];
  const slope = (high.us - low.us) / (high.bytes - low.bytes);
  return low.us + slope * (bytes - low.bytes);
}

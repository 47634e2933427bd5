/**
 * Computes a row's figures from a case's samples.
 *
 * @module
 */

import { speedOfLight } from "./calibrate.ts";
import type { Calibration } from "./calibration.ts";
import type { Figures } from "../row/row.ts";
import { summarize } from "./stats.ts";
import type { Problem } from "../model/suite.ts";

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

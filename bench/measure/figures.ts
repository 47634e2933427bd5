/**
 * Computes a row's figures from a case's samples, and the speed of light from a device's
 * calibration.
 *
 * @module
 */

import type { DType } from "../model/dtype.ts";
import type { Timer } from "../model/settings.ts";
import { summarize } from "./stats.ts";
import type { Problem } from "../model/suite.ts";
import type { Figures } from "../row/row.ts";
import {
  array,
  check,
  exactOptional,
  finite,
  type InferOutput,
  maxValue,
  minValue,
  number,
  pipe,
  readonly,
  record,
  strictObject,
  string,
} from "valibot";

/** The conditions under which samples were taken. */
export interface SampleConditions {
  /** The device's measured limits, if they were measured. */
  readonly calibration: Calibration | undefined;
  /** The timer of the samples. The speed of light is known of the calibration's own only. */
  readonly timer: Timer;
}

/** The figures of `samples`, in nanoseconds, of one run at `problem`. */
export function figuresOf(
  { key, work }: Pick<Problem, "key" | "work">,
  samples: readonly number[],
  { calibration, timer }: SampleConditions,
): Figures {
  const { flops, bytes, type = key.a_type } = work;
  const ns = summarize(samples);
  const sol_us = calibration?.timer === timer
    ? speedOfLight(calibration, { flops, bytes, type })
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
    floor_us: floorOf(calibration, timer) ?? 0,
  };
}

function floorOf(
  calibration: Calibration | undefined,
  timer: Timer,
): number | undefined {
  if (calibration?.timer === timer) return calibration.call_us;
  return timer === "graph" ? calibration?.graph_us : calibration?.launch_us;
}

const AMOUNT = "it must be a number of at least 0";
const amount = pipe(number(), finite(AMOUNT), minValue(0, AMOUNT));
/** Microseconds. */
const duration = pipe(
  amount,
  maxValue(365 * 24 * 3600e6, "it must be at most a year"),
);

/** The schema of what was measured of a device before any case. */
export const calibrationSchema = strictObject({
  /** Median of an interval around nothing, µs. */
  marker_us: duration,
  /** Median of an interval around an empty launch, µs; the launch overhead. */
  launch_us: duration,
  /** The same by a replayed graph, µs; missing where there are no graphs. */
  graph_us: exactOptional(duration),
  /** The timer of the next two, which are of one call; missing in older files. */
  timer: exactOptional(string()),
  /** Median of an empty call by that timer, µs. */
  call_us: exactOptional(duration),
  /** Least time of a kernel that only reads so many bytes, by that timer, ascending. */
  load: pipe(
    array(strictObject({ bytes: amount, us: duration })),
    check(
      (load) =>
        load.every(({ bytes }, i) => i === 0 || bytes > load[i - 1]!.bytes),
      "its bytes must ascend",
    ),
    readonly(),
  ),
  /** Flops per second of the fastest large GEMM, by type; empty without a library. */
  peak: record(string(), amount),
});

/** Measurements of a device before any case. */
export type Calibration = Readonly<InferOutput<typeof calibrationSchema>>;

/**
 * The least time of `work` on a device so calibrated, in microseconds: reading its bytes
 * alone, or its flops at the peak on top of an empty call, whichever is longer.
 * Undefined where neither was measured.
 */
export function speedOfLight(
  { load, peak, launch_us, call_us: floor = launch_us }: Calibration,
  { flops, bytes, type }: { flops: number; bytes: number; type: DType },
): number | undefined {
  const rate = peak[type];
  const limits = [
    ...(load.length > 1 ? [loadTime(load, bytes)] : []),
    ...(rate === undefined ? [] : [floor + flops / rate * 1e6]),
  ];
  return limits.length ? Math.max(...limits) : undefined;
}

/** Says that a cold time is less than the bound; empty where it is not. */
export function aboveSolNote(
  { median_us, sol_us }: Pick<Figures, "median_us" | "sol_us">,
  cache: "cold" | "warm",
): string {
  if (cache === "warm" || sol_us === undefined || median_us >= sol_us) {
    return "";
  }
  const percent = 100 * (1 - median_us / sol_us);
  return `${percent.toFixed(1)} % less than the speed of light (sol_us)`;
}

/**
 * Returns the microseconds of reading `bytes`: linear between the points of the curve, and on
 * from its last two.
 */
export function loadTime(load: Calibration["load"], bytes: number): number {
  const next = load.findIndex((point) => point.bytes >= bytes);
  if (next === 0) return load[0]!.us;
  const at = next < 0 ? load.length - 1 : next;
  const [low, high] = [load[at - 1]!, load[at]!];
  const slope = (high.us - low.us) / (high.bytes - low.bytes);
  return low.us + slope * (bytes - low.bytes);
}

/**
 * Measures what a device can do at best, the way cases are timed: the launch overhead, the
 * time to read so many bytes, the rate of large matrix products.
 *
 * @module
 */

import type { Blas, FusedGemm } from "../device/blas.ts";
import type { Device } from "../device/device.ts";
import type { Instruments } from "../device/instruments.ts";
import type { Memory, Step } from "../device/queue.ts";
import { BYTES, type DType } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import { type InputOptions, stored } from "../model/inputs.ts";
import type { Timer } from "../model/settings.ts";
import type { Calibration } from "./figures.ts";
import { callOf, callsOf, sampleOf } from "./sample_calls.ts";
import { summarize } from "./stats.ts";
import type { Stopwatch } from "./time.ts";

/** Inputs of the calibration. */
export interface CalibrateOptions extends InputOptions {
  readonly device: Device;
  /** The name of the device's backend. */
  readonly api: string;
  readonly stopwatch: Stopwatch;
  readonly instruments: Instruments;
  /** The timer of the rows, whose launch overhead and load curve are measured. */
  readonly timer: Timer;
  /** True if other processes' work shows in the device's times. */
  readonly shared: boolean;
  flush(): void;
  /** Types whose matrix products are measured. */
  readonly types: readonly DType[];
}

/** Bytes of the load curve: doublings from one block's worth to what large GEMMs read. */
const CURVE_FROM = 1 << 11;
const CURVE_TO = 1 << 30;
const CURVE_FLUSHES = 4;
/** Milliseconds and least samples of a series: a flush of a CPU's cache takes long. */
const BUDGET = { warmup: 0.5, rep: 3, atLeast: 5 };
/** Samples of each reading kernel at a size, from which the fastest two are chosen. */
const LOOK = 6;
const FINALISTS = 2;
const CURVE_SAMPLES = 16;
const PEAK_SAMPLES = 5;
const WORKSPACE_BYTES = 32 << 20;
/** Calls of a sample: of more, one takes 0.1 µs less at most, and making them takes long. */
const MOST_CALLS = 64;
/** Bytes that the calls of a sample read together, but for two calls at least. */
const SAMPLE_BYTES = 1 << 30;
/** A GEMM of fewer launches is one whose rate the launch's own spread moves. */
const LEAST_LAUNCHES = 10;
/** A longer GEMM is its own average: no larger one is tried. */
const LONG_ENOUGH_NS = 1e6;
/** Bytes of random values that are made; larger matrices repeat them. */
const RANDOM_BYTES = 1 << 20;

/** Measures launch overheads, load curve and peaks; what cannot be measured is left out. */
export function calibrate(options: CalibrateOptions): Calibration {
  const { device, stopwatch, instruments, flush, timer } = options;
  const median = (run: () => void) =>
    summarize(stopwatch.sample({ run, flush, ...BUDGET })).median / 1e3;
  const marker_us = median(() => {});
  if (instruments.missing) {
    return { marker_us, launch_us: marker_us, load: [], peak: {} };
  }
  const empty = callOf(instruments.empty());
  const by = (timer: Timer) => {
    using owner = new DisposableStack();
    const count = Math.min(callsOf(timer), MOST_CALLS);
    const calls = Array.from({ length: count }, () => empty);
    return median(sampleOf(timer, { ...options, calls }, owner)) / calls.length;
  };
  const launch_us = by("do_bench");
  const graph_us = device.capture ? by("graph") : undefined;
  const own = timer === "do_bench"
    ? launch_us
    : timer === "graph"
    ? graph_us
    : undefined;
  const floors = {
    marker_us,
    launch_us,
    ...(graph_us === undefined ? {} : { graph_us }),
    timer,
    call_us: own ?? by(timer),
  };
  if (options.shared) return { ...floors, load: [], peak: {} };
  return {
    ...floors,
    load: loadCurve(options),
    peak: peaksOf(options, launch_us),
  };
}

/**
 * Returns the least time to read so many bytes in a call of the timer. At each size the fastest
 * of several kernels counts, and the fastest of its samples: with the lower quartile as the bound
 * the median of `dot` was 1.5 % below it once on an H200.
 */
function loadCurve(options: CalibrateOptions): Calibration["load"] {
  const { device, instruments, stopwatch, flush, timer } = options;
  using memory = largest(
    device,
    Math.min(CURVE_TO, CURVE_FLUSHES * instruments.flushBytes),
  );
  memory.fill(0);
  const curve: { bytes: number; us: number }[] = [];
  for (let bytes = CURVE_FROM; bytes <= memory.bytes; bytes *= 2) {
    using owner = new DisposableStack();
    const places = Math.floor(memory.bytes / bytes);
    const calls = Math.min(
      callsOf(timer),
      MOST_CALLS,
      Math.max(2, Math.floor(SAMPLE_BYTES / bytes)),
    );
    // Calls read different bytes as far as there are as many; so large, none stay in a cache.
    const steps = Array.from(
      { length: calls },
      (_, i) => instruments.loads(memory.slice(i % places * bytes, bytes)),
    );
    const runs = steps[0]!.map((_, reader) => {
      const own = steps.map((loads) => callOf(loads[reader]!));
      return sampleOf(timer, { ...options, calls: own }, owner);
    });
    const look = (count: number, run: () => void) =>
      summarize(stopwatch.take(count, { run, flush }));
    const ranked = runs.map((run) => ({ run, ns: look(LOOK, run).q1 }))
      .toSorted((a, b) => a.ns - b.ns).slice(0, FINALISTS);
    const ns = Math.min(
      ...ranked.map(({ run }) => look(CURVE_SAMPLES, run).min),
    );
    curve.push({ bytes, us: ns / calls / 1e3 });
  }
  return curve;
}

/**
 * Returns memory of `bytes`, or of a half, and so on.
 *
 * @throws {CaseError} `oom`, where there is not even room for one point of the curve.
 */
function largest(device: Device, bytes: number): Memory {
  try {
    return device.alloc(bytes);
  } catch (error) {
    const full = error instanceof CaseError && error.failure === "oom";
    if (!full || bytes <= CURVE_FROM) throw error;
    return largest(device, bytes / 2);
  }
}

/** The sizes of a GEMM. */
type Shape = readonly [m: number, n: number, k: number];

/** Edge of the largest GEMM. */
const MOST_EDGE = 8192;
/** Rows and columns of a large tile. */
const TILE = [128, 256] as const;

/**
 * Lists shapes by their flops: squares, and those whose tiles fill `units` multiprocessors once
 * or four times.
 */
function shapesOf(units: number): readonly Shape[] {
  const down = Array.from({ length: units }, (_, i) => i + 1)
    .filter((rows) => units % rows === 0 && rows * rows <= 2 * units).at(-1)!;
  const waves = [1, 2].flatMap((side) =>
    [MOST_EDGE / 2, MOST_EDGE].map((k): Shape => [
      side * down * TILE[0],
      side * units / down * TILE[1],
      k,
    ])
  );
  const squares = [512, 1024, 2048, 4096, MOST_EDGE]
    .map((edge): Shape => [edge, edge, edge]);
  return [...squares, ...waves].filter(([m, n]) => Math.max(m, n) <= MOST_EDGE)
    .toSorted((a, b) => product(a) - product(b));
}

function product([m, n, k]: Shape): number {
  return m * n * k;
}

/** Returns flops per second of the fastest GEMM of each type that the library has. */
function peaksOf(
  options: CalibrateOptions,
  launch_us: number,
): Record<string, number> {
  const { blas } = options.device;
  const peak: Record<string, number> = {};
  if (!blas) return peak;
  for (const type of options.types) {
    try {
      const rate = peakOf(type, { ...options, blas, launch_us });
      if (rate > 0) peak[type] = rate;
    } catch (error) {
      // Cases go on without a peak that the memory has no room for.
      const full = error instanceof CaseError && error.failure === "oom";
      if (!full) throw error;
    }
  }
  return peak;
}

/** Returns what `make` returns, if the library supports it. */
function supported(make: () => Step | undefined): readonly Step[] {
  try {
    const step = make();
    return step ? [step] : [];
  } catch (error) {
    if (error instanceof CaseError && error.failure === "unsupported") {
      return [];
    }
    throw error;
  }
}

/**
 * Returns the greatest rate of a lone GEMM of `type`, net of its launch. Each is short and after
 * a flush, as cases are: GEMMs in a row are limited by the device's power. The bounds of all
 * timers are made of it.
 */
function peakOf(
  type: DType,
  { device, blas, stopwatch, seed, fill, flush, launch_us }:
    & CalibrateOptions
    & { readonly blas: Blas; readonly launch_us: number },
): number {
  using scope = new DisposableStack();
  const most = MOST_EDGE ** 2 * BYTES[type];
  const output = BYTES[type] < BYTES.bf16 ? "bf16" : type;
  const alloc = (bytes: number) => scope.use(device.alloc(bytes));
  const [a, b] = [alloc(most), alloc(most)];
  const c = alloc(MOST_EDGE ** 2 * BYTES[output]);
  const workspace = alloc(WORKSPACE_BYTES);
  const one = alloc(4);
  one.upload(new Uint8Array(new Float32Array([1]).buffer));
  const scales = { kind: "tensor", a: one, b: one } as const;
  // Random, or the power drawn would be too low and the clock too high; repeated,
  // since making 10⁸ values would take longer than measuring.
  const count = RANDOM_BYTES / BYTES[type];
  const data = stored({ seed, fill }, 0, { count, type });
  for (const memory of [a, b]) {
    for (let at = 0; at < most; at += data.length) {
      memory.slice(at, data.length).upload(data);
    }
  }
  /** The GEMM as the library multiplies it in each of its ways that it has for the type. */
  const stepsOf = ([m, n, k]: Shape) =>
    [false, true].flatMap((transposed) => {
      const gemm = {
        m,
        n,
        k,
        a: { memory: a, type, ld: k },
        b: { memory: b, type, ld: transposed ? k : n, transposed },
        c: { memory: c, type: output, ld: n },
      };
      const fused: FusedGemm = { ...gemm, epilogue: "none", workspace };
      const scaled: FusedGemm = { ...fused, scales };
      return [
        ...supported(() => blas.gemm(gemm)),
        ...supported(() =>
          blas.fused?.(output === type ? fused : scaled, 1)[0]?.step
        ),
      ];
    });
  const nanoseconds = (step: Step) => {
    const run = () => step.enqueue();
    run();
    return summarize(stopwatch.take(PEAK_SAMPLES, { run, flush })).q1;
  };
  let best = 0;
  for (const shape of shapesOf(device.info.units)) {
    // Infinite, of no rate, where the library has none.
    const ns = Math.min(...stepsOf(shape).map(nanoseconds));
    const launch = launch_us * 1e3;
    if (ns > LEAST_LAUNCHES * launch) {
      best = Math.max(best, 2 * product(shape) / (ns - launch));
    }
    if (ns > LONG_ENOUGH_NS) break;
  }
  return best * 1e9;
}

/**
 * Measures what a device can do at best, the way cases are timed: the launch overhead, the
 * time to read so many bytes, the rate of large matrix products.
 *
 * @module
 */

import type { Device } from "../device/device.ts";
import type { Memory } from "../device/queue.ts";
import { BYTES, type DType } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import { type InputOptions, stored } from "../model/inputs.ts";
import type { Instruments } from "../device/instruments.ts";
import type { Calibration } from "./figures.ts";
import { summarize } from "./stats.ts";
import type { Stopwatch } from "./time.ts";

/** Inputs of the calibration. */
export interface CalibrateOptions extends InputOptions {
  readonly device: Device;
  readonly stopwatch: Stopwatch;
  readonly instruments: Instruments;
  /** True if samples are replays of graphs. */
  readonly graph: boolean;
  /** True if other processes' work shows in the device's times. */
  readonly shared: boolean;
  flush(): void;
  /** Types whose matrix products are measured. */
  readonly types: readonly DType[];
}

/** Bytes of the load curve: doublings from one block's worth up to what no cache holds. */
const CURVE_FROM = 1 << 11;
const CURVE_TO = 1 << 27;
/** Milliseconds and samples of each point: a flush of a CPU's cache takes long. */
const BUDGET = { warmup: 0.5, rep: 3, atLeast: 5 };
const PEAK_SAMPLES = 15;
/** Edge of the square products that are tried until one takes long enough. */
const EDGES = [512, 1024, 2048, 4096, 8192];
const LONG_ENOUGH_NS = 1e6;

/** Measures floor, load curve and peaks; what cannot be measured is left out. */
export function calibrate(options: CalibrateOptions): Calibration {
  const { device, stopwatch, instruments, graph, flush, types } = options;
  const median = (run: () => void) =>
    summarize(stopwatch.sample({ run, flush, ...BUDGET })).median / 1e3;
  const replayed = (run: () => void) => {
    using recorded = device.capture!(run);
    return median(() => recorded.launch());
  };
  const marker_us = median(() => {});
  if (instruments.missing || options.shared) {
    const launch_us = instruments.missing
      ? marker_us
      : median(launched(instruments));
    return { marker_us, launch_us, load: [], peak: {} };
  }
  const load = [];
  const most = Math.min(CURVE_TO, instruments.flushBytes);
  for (let bytes = CURVE_FROM; bytes <= most; bytes *= 2) {
    const step = instruments.load(bytes);
    const run = () => step.enqueue();
    load.push({ bytes, us: graph ? replayed(run) : median(run) });
  }
  const peak: Record<string, number> = {};
  for (const type of types) {
    const rate = peakOf(type, options);
    if (rate !== undefined) peak[type] = rate;
  }
  return {
    marker_us,
    launch_us: median(launched(instruments)),
    ...(device.capture ? { graph_us: replayed(launched(instruments)) } : {}),
    load,
    peak,
  };
}

function launched(instruments: Instruments): () => void {
  const empty = instruments.empty();
  return () => empty.enqueue();
}

/** Flops per second of a square product long enough to be its own average. */
function peakOf(
  type: DType,
  { device, stopwatch, seed, fill }: CalibrateOptions,
): number | undefined {
  const blas = device.blas;
  if (!blas) return undefined;
  for (const edge of EDGES) {
    using scope = new DisposableStack();
    const bytes = edge * edge * BYTES[type];
    const [a, b, c] = [0, 1, 2].map(() => scope.use(device.alloc(bytes))) as [
      Memory,
      Memory,
      Memory,
    ];
    // Random, or the power drawn would be too low and the clock too high; repeated,
    // since making 10⁸ values would take longer than measuring.
    const data = stored({ seed, fill }, 0, { count: 1 << 18, type });
    for (const memory of [a, b]) {
      for (let at = 0; at < bytes; at += data.length) {
        memory.slice(at, Math.min(data.length, bytes - at)).upload(
          data.subarray(0, Math.min(data.length, bytes - at)),
        );
      }
    }
    const matrix = (memory: Memory) => ({ memory, type, ld: edge });
    let step;
    try {
      step = blas.gemm({
        m: edge,
        n: edge,
        k: edge,
        a: matrix(a),
        b: matrix(b),
        c: matrix(c),
      });
    } catch (error) {
      if (error instanceof CaseError && error.failure === "unsupported") return;
      throw error;
    }
    const run = () => step.enqueue();
    const flush = () => {};
    run();
    const [first] = stopwatch.take(1, { run, flush });
    if (first! < LONG_ENOUGH_NS && edge !== EDGES.at(-1)) continue;
    const { median } = summarize(stopwatch.take(PEAK_SAMPLES, { run, flush }));
    return 2 * edge ** 3 / (median / 1e9);
  }
}

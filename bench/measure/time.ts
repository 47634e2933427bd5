/**
 * Times work on a device as Triton's do_bench does: by the device's own clock, with a cold cache
 * before each sample and one synchronization at the end. `docs/guide/method.md` gives the
 * differences and their reasons.
 *
 * @module
 */

import type { Device, Interval } from "../device/device.ts";
import { medianError } from "./bootstrap.ts";
import { dephased, phasedMedian, PHASES } from "./stats.ts";

/** The sets of operands that the samples of a series use. */
export interface Turns {
  /** Returns the function from the number of a sample, counted from the next one, to its sets. */
  fromNow(): (index: number) => readonly number[];
  /** Queues an untimed call that fills the cache; undefined with a cold cache. */
  readonly settle?: () => void;
}

/** Untimed work that is queued around the samples of a series. */
export interface Around {
  /** Tells which sets the samples use. */
  watch(turns: Turns): void;
  /** Prepares for `count` samples of about `ns` nanoseconds each. May synchronize. */
  begin(count: number, ns: number): void;
  /** Queues work before sample number `index` and its flush. */
  before(index: number): void;
  /** Queues work between the flush before sample number `index` and the sample. */
  flushed(index: number): void;
  /** Queues work after the end of sample number `index`. */
  after(index: number): void;
}

/** The work and the time limit of a series of samples. */
export interface Series {
  /** Queues the timed work. */
  run(): void;
  /** Queues the flush of the cache; queues nothing if the cache stays warm. */
  flush(): void;
  /** Milliseconds of warm-up and of samples, as in Triton. */
  readonly warmup: number;
  readonly rep: number;
  /**
   * Wanted precision: half the 95 % interval of the median, divided by the median. With it, a series
   * may be shorter than `rep`. @default {`rep` alone decides}
   */
  readonly precision?: number | undefined;
  /** The least number of samples, even if they take longer than `rep`. @default {10} */
  readonly atLeast?: number;
  /** @default {nothing} */
  readonly around?: Around;
}

/** The least number of samples, for a median of slow calls too. Triton may take only one. */
const LEAST_SAMPLES = 10;
/** The most samples: each holds two events until the end of the series. */
const MOST_SAMPLES = 10_000;
/** Calls of the estimate, as in Triton. */
const ESTIMATES = 5;
/**
 * Milliseconds from which each call is synchronized, so that the worker can send a sign of life. The
 * idle microseconds between such calls do not matter.
 */
const SLOW_MS = 25;
/**
 * Samples between two empty launches. With NVIDIA's driver every fourth launch takes about 1.2 µs
 * longer. For a sample of four launches, flush included, the slow launch would be the same one in
 * the whole series, and the median would depend on which one. An empty launch before every fourth
 * sample shifts the position, so that each series has all four positions equally often. The pattern
 * repeats after sixteen samples: see `phasedMedian`.
 */
const NUDGE_EVERY = PHASES / 4;

/** Milliseconds of the pilot samples that tell how many samples a precision needs. */
const PILOT_MS = 20;
/** The least number of pilot samples from which an error can be estimated. */
const PILOT_SAMPLES = 64;
/** The normal quantile of a 95 % interval. */
const REACH = 1.96;
/** The factor by which more samples are taken, as the estimated error is about 10 % off. */
const SAFETY = 1.2;

/** Returns how many samples like `pilot` are needed for a median of this precision. */
export function samplesFor(
  precision: number,
  pilot: readonly number[],
): number {
  const share = reachOf(pilot) / precision;
  return Math.ceil(SAFETY * pilot.length * share ** 2);
}

/** Returns half the 95 % interval of the median of `samples`, as a share of it. */
export function reachOf(samples: readonly number[]): number {
  return REACH * medianError(dephased(samples)).error / phasedMedian(samples);
}

/** Returns whether a call of `ns` nanoseconds is synchronized each time. */
export function isSlow(ns: number): boolean {
  return ns >= SLOW_MS * 1e6;
}

/** Intervals of a device, made once and used for every series. */
export class Stopwatch implements Disposable {
  readonly #intervals: Interval[] = [];

  /**
   * @param device Whose clock it reads.
   * @param nudge Queues a launch that does nothing.
   * @param alive Is called after each slow call, as a sign of life.
   */
  constructor(
    readonly device: Device,
    readonly nudge: () => void = () => {},
    readonly alive: () => void = () => {},
  ) {}

  /**
   * Returns the nanoseconds of each sample of `series`, in the order in which they ran.
   *
   * The estimate is the mean of five flushed runs in one interval, flush included, as in Triton, or
   * one run of a slow call. The warm-up is not flushed. With a precision, separate pilot samples
   * tell how many samples are needed; a series that stopped as soon as it looks precise would be
   * biased.
   */
  sample(series: Series): number[] {
    const { run, flush, warmup, rep, precision, atLeast, around } = series;
    const start = performance.now();
    run();
    this.device.synchronize();
    const estimateOf = (runs: number) =>
      this.#once(() => {
        for (let i = 0; i < runs; i++) {
          flush();
          run();
        }
      }) / runs;
    let estimate = NaN;
    // The first call may only seem slow, as it loads its code: the estimate decides.
    if (isSlow((performance.now() - start) * 1e6)) {
      this.alive();
      estimate = estimateOf(1);
    }
    if (!isSlow(estimate)) estimate = estimateOf(ESTIMATES);
    const count = (ms: number, least: number) =>
      Math.min(
        MOST_SAMPLES,
        Math.max(least, Math.floor(ms * 1e6 / Math.max(estimate, 1))),
      );
    const wait = isSlow(estimate);
    if (wait) this.alive();
    for (let i = count(warmup, 1); i > 0; i--) {
      run();
      if (wait) this.#wait();
    }
    const most = count(rep, atLeast ?? LEAST_SAMPLES);
    const pilot = Math.min(most, count(PILOT_MS, PILOT_SAMPLES));
    const samples = precision === undefined || pilot < PILOT_SAMPLES
      ? most
      : Math.min(
        most,
        Math.max(
          PILOT_SAMPLES,
          samplesFor(precision, this.take(pilot, { run, flush, wait })),
        ),
      );
    around?.begin(samples, estimate);
    return this.take(samples, {
      run,
      flush,
      wait,
      ...(around ? { around } : {}),
    });
  }

  /** Returns the nanoseconds of `count` samples. @param wait Whether to synchronize after each. */
  take(
    count: number,
    { run, flush, wait = false, around }:
      & Pick<Series, "run" | "flush" | "around">
      & { readonly wait?: boolean },
  ): number[] {
    while (this.#intervals.length < count) {
      this.#intervals.push(this.device.interval());
    }
    const used = this.#intervals.slice(0, count);
    for (const [i, interval] of used.entries()) {
      around?.before(i);
      if (i % NUDGE_EVERY === NUDGE_EVERY - 1) this.nudge();
      flush();
      around?.flushed(i);
      interval.measure(run);
      around?.after(i);
      if (wait) this.#wait();
    }
    this.device.synchronize();
    return used.map((interval) => interval.nanoseconds());
  }

  #wait(): void {
    this.device.synchronize();
    this.alive();
  }

  #once(work: () => void): number {
    return this.take(1, { run: work, flush: () => {} })[0]!;
  }

  [Symbol.dispose](): void {
    for (const interval of this.#intervals) interval[Symbol.dispose]();
  }
}

/** The limits of {@linkcode warm}. */
export interface WarmOptions {
  /** Milliseconds of one window. @default {4} */
  readonly windowMs?: number;
  /** The least warm-up in milliseconds. @default {0} */
  readonly leastMs?: number;
  /** The most warm-up in milliseconds. @default {1000} */
  readonly mostMs?: number;
}

/** The relative difference below which two windows take the same time. */
const AGREEMENT = 0.01;

/**
 * Runs `filler` until two windows in a row take the same time. Returns the milliseconds of device time
 * that this took.
 */
export function warm(
  stopwatch: Stopwatch,
  filler: () => void,
  { windowMs = 4, leastMs = 0, mostMs = 1000 }: WarmOptions = {},
): number {
  const window = (count: number) =>
    stopwatch.take(1, {
      flush: () => {},
      run() {
        for (let i = 0; i < count; i++) filler();
      },
    })[0]! / 1e6;
  const one = Math.max(window(1), 1e-3);
  const count = Math.max(1, Math.round(windowMs / one));
  let [spent, last] = [one, NaN];
  while (spent < mostMs) {
    const now = window(count);
    spent += now;
    // NaN compares false, so one window never agrees with itself.
    if (spent >= leastMs && Math.abs(now - last) < AGREEMENT * now) break;
    last = now;
  }
  return spent;
}

/**
 * Times work on a device as Triton's do_bench does: by the device's own clock, a cold
 * cache before each sample, one wait at the end. Where it differs, `docs/guide/method.md` says
 * why.
 *
 * @module
 */

import type { Device, Interval } from "../device/device.ts";
import { medianError } from "./bootstrap.ts";
import { dephased, phasedMedian, PHASES } from "./stats.ts";

/** The sets of operands that take part in the samples of a series. */
export interface Turns {
  /** Returns which of them sample number `index` uses, counted from the next one on. */
  fromNow(): (index: number) => readonly number[];
  /** Queues an untimed call, where inputs are to stay in the cache; missing elsewhere. */
  readonly settle?: () => void;
}

/** Work around the samples of a series that is queued with them, and not timed. */
export interface Around {
  /** Takes note of which sets are used when. */
  watch(turns: Turns): void;
  /** Is told of `count` samples that follow, of which one takes `ns`; waits. */
  begin(count: number, ns: number): void;
  /** Queues what comes before sample number `index` and its flush. */
  before(index: number): void;
  /** Queues what comes between the flush before sample number `index` and the sample. */
  flushed(index: number): void;
  /** Queues what follows the end of sample number `index`. */
  after(index: number): void;
}

/** The work and the time limit of a series of samples. */
export interface Series {
  /** Queues what is timed. */
  run(): void;
  /** Queues what makes the cache cold; nothing where it stays warm. */
  flush(): void;
  /** Milliseconds, as Triton takes them. */
  readonly warmup: number;
  readonly rep: number;
  /**
   * Half the 95 % interval of the median, as a share of it, from which on there are samples
   * enough. @default {samples for all of `rep`}
   */
  readonly precision?: number | undefined;
  /** Samples to take however long they are. @default {10} */
  readonly atLeast?: number;
  /** @default {nothing} */
  readonly around?: Around;
}

/**
 * Few samples of a slow call are still a median; Triton takes one, which is none.
 */
const LEAST_SAMPLES = 10;
/** More say nothing new, and each holds two events until the end. */
const MOST_SAMPLES = 10_000;
const ESTIMATES = 5;
/**
 * A call of so many milliseconds is waited for each time, so that a worker can say that it
 * lives: the microseconds that the device idles then are nothing to it.
 */
const SLOW_MS = 25;
/**
 * Before every fourth sample, one empty launch. On NVIDIA's driver every fourth launch takes
 * about 1.2 µs longer. A sample of three launches and a flush is four, so the slow one falls
 * on the same launch for a whole series, on which one by chance, and its median is one of
 * four. So shifted, every series has each of the four equally often, whatever the number of
 * its launches, and sixteen samples later the same one again: see `phasedMedian`.
 */
const NUDGE_EVERY = PHASES / 4;

/** Milliseconds of samples from which it is told how many a precision needs. */
const PILOT_MS = 20;
/** Fewer say nothing of their error. */
const PILOT_SAMPLES = 64;
/** The normal quantile of a 95 % interval. */
const REACH = 1.96;
/** The error is known to about a tenth. */
const SAFETY = 1.2;

/** Returns how many samples like `pilot` make the median as precise as `precision`. */
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

/** Returns whether each call of so many nanoseconds is waited for. */
export function isSlow(ns: number): boolean {
  return ns >= SLOW_MS * 1e6;
}

/** Intervals of a device, made once and used for every series. */
export class Stopwatch implements Disposable {
  readonly #intervals: Interval[] = [];

  /**
   * @param device Whose clock it reads.
   * @param nudge Queues a launch that does nothing.
   * @param alive Is called after each call that is slow.
   */
  constructor(
    readonly device: Device,
    readonly nudge: () => void = () => {},
    readonly alive: () => void = () => {},
  ) {}

  /**
   * Nanoseconds of each sample of `series`, in the order in which they ran.
   *
   * Five flushed runs in one interval give the estimate, flush included, as in Triton; of
   * a slow call one run does. The warm-up is not flushed. With a precision, samples of their own
   * tell how many are needed, so that no series ends where it happens to look calm.
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
    // A first call that loads its code is no slow one.
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

  /** Nanoseconds of exactly `count` samples. @param wait Whether each is waited for. */
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

/** The limits of a warm-up. */
export interface WarmOptions {
  /** Milliseconds of one window. @default {4} */
  readonly windowMs?: number;
  /** Milliseconds to warm at least. @default {0} */
  readonly leastMs?: number;
  /** Milliseconds after which it is left at that. @default {1000} */
  readonly mostMs?: number;
}

/** Two windows agree when they differ by less than this share. */
const AGREEMENT = 0.01;

/**
 * Runs `filler` until two windows in a row take the same time, and returns the
 * milliseconds of device time that this took.
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

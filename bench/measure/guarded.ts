/**
 * Times one case while its inputs, outputs and times are watched.
 *
 * @module
 */

import type { Tolerance } from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";
import type { BenchContext, Prepared } from "./context.ts";
import { type Calibration, loadTime } from "./figures.ts";
import { type FreshSamples, gainOf, Guard } from "./guard.ts";
import { checkKept, comparable } from "./guard_check.ts";
import type { OperandSet } from "./operands.ts";
import type { Numbers } from "./precision.ts";
import { callsOf } from "./sample_calls.ts";
import { median, summarize } from "./stats.ts";
import { rotationOf, type Timed, timedOf } from "./timed.ts";
import type { Repeated } from "./traces.ts";

/** The inputs of a series. */
export interface SeriesOptions {
  readonly context: BenchContext;
  readonly problem: Problem;
  readonly sets: readonly OperandSet[];
  /** A plan for each set. */
  readonly plans: readonly Prepared[];
  readonly tolerance: Tolerance;
  /** The right outputs of the first set. */
  readonly right: readonly Numbers[];
  /** The least effective bits of a result; undefined if any number will do. */
  readonly bits: number | undefined;
}

/** The samples of a case. */
export class GuardedSeries implements Disposable {
  readonly timed: Timed;
  /** Nanoseconds, in the order in which they were taken. */
  readonly samples: readonly number[];
  /** Its calls, to find leaks by. */
  readonly repeated: Repeated;
  readonly #scope = new DisposableStack();
  readonly #guard: Guard;
  readonly #suspicions: readonly string[];

  /** Takes the samples. @throws {CaseError} As steps and the device do. */
  constructor(readonly options: SeriesOptions) {
    const { context, problem, sets, plans, tolerance, right } = options;
    const { warmup, rep } = context.settings;
    using scope = new DisposableStack();
    this.#guard = scope.use(
      new Guard({
        device: context.device,
        sets,
        plans,
        gain: gainOf(problem, right, tolerance),
        most: comparable(problem, sets.length),
        shared: context.options.backend.shared ?? false,
        below: context.below,
        nudge: context.instruments.nudge(),
      }),
    );
    this.timed = scope.use(
      timedOf(context, plans, problem, { around: this.#guard }),
    );
    this.samples = this.timed.sample(warmup, rep);
    this.repeated = {
      again: () => this.timed.again(),
      calls: plans.length,
      ns: summarize(this.samples).median,
      timed: {
        calls: this.samples.length * callsOf(context.settings.timer),
        taken: this.#guard.taken(),
      },
    };
    this.#suspicions = [
      this.#guard.fresh.map((fresh) => freshNote(this.samples, fresh))
        .find((note) => note !== "") ?? "",
      this.#warmNote(),
    ];
    this.#scope.use(scope.move());
  }

  /** Compares a cold series with a few samples that have their inputs in the cache. */
  #warmNote(): string {
    const { context, problem } = this.options;
    const cold = summarize(this.samples).median;
    const read = {
      bytes: problem.work.bytes,
      calls: callsOf(context.settings.timer),
      cacheBytes: context.device.info.cacheBytes,
      calibration: context.calibration,
    };
    const { cache } = context.settings;
    if (cache === "warm" || rotationOf(context, problem)) return "";
    if (!shouldSave(cold, read)) return "";
    const warm = summarize(this.timed.warm(WARM_SAMPLES)).median;
    return warmNote({ cold, warm }, read);
  }

  /**
   * Compares the outputs that were kept.
   *
   * @throws {CaseError} `wrong`, where one is.
   */
  check(): void {
    const { context, problem, sets, tolerance, bits } = this.options;
    const { below, pulse } = context;
    checkKept({
      problem,
      sets,
      tolerance,
      bits,
      below,
      log: this.#guard.log,
      beat: () => pulse.beat(),
    });
  }

  /** What was not checked, and what times look like; some may be empty. */
  get notes(): readonly string[] {
    return [
      ...this.#guard.notes,
      this.options.context.persisting,
      ...this.#suspicions,
    ];
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

/** Enough for a median: each takes a flush and two calls. */
const WARM_SAMPLES = 32;

/** Times of samples after a change, by those of the others, that computing alone does not give. */
const SLOWER = 1.5;
/** Samples after a change that say something. */
const LEAST = 6;
/** The share of honest series that chance makes look like one that remembers. */
const RARE = 2e-5;
/** As {@linkcode RARE}, of series in which all samples after a change are slow. */
const ALL_SLOW = 1e-4;
/**
 * As {@linkcode RARE}, where only samples after copies of inputs are compared: there are few, and
 * where copies slow a kernel down, these are all that differ.
 */
const RARE_AGAIN = 5e-3;

/**
 * Says that samples after new inputs take longer than the others, and than those of `again`; empty
 * where they do not, or by less than `leastNs`. A kernel that remembers the results of all inputs is right, and slow where they
 * are new.
 *
 * The changes are at random places, so the rank test of Mann and Whitney holds whatever the noise
 * is, also of a busy host that slows some samples in a row.
 *
 * @param samples Nanoseconds.
 */
export function freshNote(
  samples: readonly number[],
  { after, apart, again, leastNs = 0 }: FreshSamples,
): string {
  const at = (is: (i: number) => boolean) => samples.filter((_, i) => is(i));
  const fresh = at((i) => after.has(i));
  const others = at((i) => !after.has(i) && !apart?.has(i));
  if (fresh.length < LEAST || others.length < LEAST) return "";
  if (median(fresh) - median(others) < leastNs) return "";
  if (!areSlower(fresh, others, RARE) && !areAllSlow(fresh, others, ALL_SLOW)) {
    return "";
  }
  const copied = again && at((i) => again.has(i));
  if (
    copied && !areSlower(fresh, copied, RARE_AGAIN) &&
    !areAllSlow(fresh, copied, RARE_AGAIN)
  ) return "";
  return `suspect: samples right after a change of the inputs take ${
    us(median(fresh))
  } µs, the others ${us(median(others))} µs: results may be remembered`;
}

/**
 * Returns whether every sample of `after` is slower than so many of `others` that chance explains it in
 * a share of `rare` at most. A kernel that remembers results may still compute some samples whose
 * inputs are old, but has to compute all whose inputs are new.
 */
function areAllSlow(
  after: readonly number[],
  others: readonly number[],
  rare: number,
): boolean {
  const least = Math.min(...after);
  const fast = others.filter((other) => other < least);
  if (fast.length === 0 || least < SLOWER * median(fast)) return false;
  const slow = others.length - fast.length;
  const share = after.reduce(
    (all, _, i) => all * (slow + i + 1) / (others.length + i + 1),
    1,
  );
  return share <= rare;
}

/** Whether chance makes samples like `after` so much slower than `others` in a share of `rare` at most. */
function areSlower(
  after: readonly number[],
  others: readonly number[],
  rare: number,
): boolean {
  if (others.length === 0) return false;
  if (median(after) < SLOWER * median(others)) return false;
  const inverted = after.reduce(
    (sum, one) => sum + others.filter((other) => other >= one).length,
    0,
  );
  return shareOfOrders(after.length, others.length, inverted) <= rare;
}

/**
 * Returns the share of all orders of `a` and `b` values in which at most `most` pairs have the
 * value of `b` last: sums of the coefficients of a Gaussian binomial.
 */
function shareOfOrders(a: number, b: number, most: number): number {
  const ways = new Float64Array(most + 1);
  ways[0] = 1;
  let all = 1;
  for (let i = 1; i <= a; i++) {
    for (let u = most; u >= b + i; u--) ways[u]! -= ways[u - b - i]!;
    for (let u = i; u <= most; u++) ways[u]! += ways[u - i]!;
    all *= (b + i) / i;
  }
  return ways.reduce((sum, count) => sum + count, 0) / all;
}

/** The share of the time of reading memory that a warm cache saves at least. */
const SAVED = 0.1;
/**
 * The share of a kernel's time without its launch, and nanoseconds, above which reading memory
 * shows. On an H200 qmm hid a read of 6.2 µs in 9.8 µs: 0.63 of it. Of reads from 1.1 to 1.43 µs
 * eight kernels in a chain hid all but 0.14 µs.
 */
const SHOWS = { share: 0.65, ns: 1500 };
/**
 * The share of the last-level cache in which operands are expected to stay between calls. On an H200,
 * whose cache has two partitions, cublaslt saved 7.5 of 9.5 µs with 0.54 of it (bf16), and 1.2 of
 * 12.8 µs with 0.72 (FP8).
 */
const STAYS = 0.5;

/** What a note on a warm cache depends on. */
export interface Read {
  /** Bytes that a call reads and writes at least. */
  readonly bytes: number;
  /** Calls of a sample, each of other operands: a warm sample finds them only where all fit. */
  readonly calls: number;
  readonly cacheBytes: number;
  /** The limits of the device by the timer of the samples. */
  readonly calibration: Calibration | undefined;
}

/** Returns whether a cold call of `ns` should take longer than a warm one. */
export function shouldSave(
  ns: number,
  { bytes, calls, cacheBytes, calibration }: Read,
): boolean {
  if (calls * bytes > STAYS * cacheBytes) return false;
  const own = ns - callOf(calibration);
  return readOf(bytes, calibration) > Math.max(SHOWS.ns, SHOWS.share * own);
}

/**
 * Says that a warm cache saves nothing; empty where it does.
 *
 * @param cold Nanoseconds of a call with a cold cache, `warm` with a warm one.
 */
function warmNote(
  { cold, warm }: { readonly cold: number; readonly warm: number },
  { bytes, calibration }: Pick<Read, "bytes" | "calibration">,
): string {
  const read = readOf(bytes, calibration);
  if (cold - warm >= SAVED * read) return "";
  return `suspect: as fast with a cold cache (${
    us(cold)
  } µs) as with a warm one (${us(warm)} µs), though reading its bytes takes ${
    us(read)
  } µs: they may have stayed in the cache`;
}

/** Nanoseconds of reading `bytes` of memory, without the launch; 0 where that is not known. */
function readOf(bytes: number, calibration: Calibration | undefined): number {
  if (calibration === undefined || calibration.load.length < 2) return 0;
  const read = loadTime(calibration.load, bytes) * 1e3;
  return Math.max(0, read - callOf(calibration));
}

/** Nanoseconds of a call that does nothing; 0 where that is not known. */
function callOf(calibration: Calibration | undefined): number {
  if (calibration === undefined) return 0;
  const { launch_us, call_us = launch_us } = calibration;
  return call_us * 1e3;
}

function us(ns: number): string {
  return ns < 1e6 ? (ns / 1e3).toPrecision(3) : (ns / 1e3).toFixed(0);
}

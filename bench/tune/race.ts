/**
 * Finds the fastest of many configs in rounds: each round times fewer configs for longer.
 *
 * The method is successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification
 * and Hyperparameter Optimization", 2016), except that a round drops the configs that are clearly
 * slower than the best instead of one half. The finalists are timed in turns, so that drift affects
 * all of them alike.
 *
 * @module
 */

import type { Effort } from "./levels.ts";
import { phasedMedian, PHASES, quantile } from "../measure/stats.ts";
import { setImmediate } from "node:timers";
import type { Values } from "../model/grid.ts";
import type { BenchContext, Prepared } from "../measure/context.ts";
import type { Accuracy } from "../row/row.ts";
import type { Case } from "../model/suite.ts";
import { setsOf, timedOf } from "../measure/timed.ts";
import { verify } from "../measure/verify.ts";

/** Options and callbacks of a race. */
export interface RaceOptions<T> {
  readonly effort: Pick<Effort, "rounds" | "finalists" | "turns">;
  /**
   * Times `entry` for `share` of the time of a config. Returns its samples in their order, or
   * undefined if it cannot be timed, which drops it.
   */
  look(entry: T, share: number): Promise<readonly number[] | undefined>;
  /** Returns whether `entry` is correct and may win. Called once for each possible finalist. */
  admit(entry: T): Promise<boolean>;
  /** Whether a single finalist is timed in turns too. @default {false} */
  readonly always?: boolean;
}

/** An admitted config and its time. */
export interface Finalist<T> {
  readonly entry: T;
  /** Nanoseconds: the median over its turns, or over its last round if it was not timed in turns. */
  readonly median: number;
}

interface Timing<T> {
  readonly entry: T;
  readonly samples: readonly number[];
  readonly median: number;
}

/** Standard errors by which two medians must differ to count as different. */
const CLEAR_ERRORS = 3;

/** Returns the finalists among `entries`, fastest first; none if no entry may win. */
export async function race<T>(
  entries: readonly T[],
  { effort, look, admit, always = false }: RaceOptions<T>,
): Promise<readonly Finalist<T>[]> {
  let left: readonly T[] = entries;
  let runners: readonly Timing<T>[] = [];
  for (const { share, within } of effort.rounds) {
    const seen: Timing<T>[] = [];
    for (const entry of left) {
      const samples = await look(entry, share);
      if (!samples) continue;
      seen.push({ entry, samples, median: steadyMedian(samples) });
    }
    runners = seen.sort((a, b) => a.median - b.median);
    left = runners.filter((one) => !clearlySlower(one, runners[0]!, within))
      .map(({ entry }) => entry);
    if (left.length <= 1) break;
  }
  const finalists = await admitted(runners, left.length, { effort, admit });
  if (finalists.length === 1 && !always) return finalists;
  return await final(finalists, { turns: effort.turns, look });
}

/**
 * Admits finalists in the order of `runners`, the fastest first: as many as the effort allows among
 * the first `near`, and one of the others only if there is none among these.
 */
async function admitted<T>(
  runners: readonly Timing<T>[],
  near: number,
  { effort, admit }: Pick<RaceOptions<T>, "effort" | "admit">,
): Promise<Finalist<T>[]> {
  const finalists: Finalist<T>[] = [];
  for (const [i, { entry, median }] of runners.entries()) {
    if (finalists.length === effort.finalists) break;
    if (i >= near && finalists.length > 0) break;
    if (await admit(entry)) finalists.push({ entry, median });
  }
  return finalists;
}

async function final<T>(
  finalists: readonly Finalist<T>[],
  { turns, look }: { turns: number; look: RaceOptions<T>["look"] },
): Promise<Finalist<T>[]> {
  const medians = new Map<T, number[]>(
    finalists.map(({ entry }) => [entry, []]),
  );
  for (let turn = 0; turn < turns; turn++) {
    for (const [entry, list] of medians) {
      const samples = await look(entry, 1);
      if (samples) list.push(steadyMedian(samples));
      else medians.delete(entry);
    }
  }
  return [...medians].map(([entry, list]) => ({
    entry,
    median: quantile(list.toSorted((a, b) => a - b), 0.5),
  })).sort((a, b) => a.median - b.median);
}

/** Returns whether `one` is `within` times slower than `best`, and not by chance. */
function clearlySlower<T>(
  one: Timing<T>,
  best: Timing<T>,
  within: number,
): boolean {
  return one.median > within * best.median &&
    one.median - best.median >
      CLEAR_ERRORS * Math.hypot(errorOf(one), errorOf(best));
}

/** The standard error of a median, from the quartiles: 1.2533 σ/√n, σ = IQR / 1.349. */
function errorOf<T>({ samples }: Timing<T>): number {
  const { q1, q3 } = quartiles(samples);
  return 1.2533 * (q3 - q1) / 1.349 / Math.sqrt(samples.length);
}

/** Interquartile ranges above the upper quartile from which a sample is an outlier (Tukey's fence). */
const FENCE = 3;

/**
 * Returns the phased median of `samples`, which are in their order, with outliers clamped. A phase
 * has only four samples in a short measurement; two interrupted ones would otherwise be its median.
 */
export function steadyMedian(samples: readonly number[]): number {
  const { q1, q3 } = quartiles(samples);
  const fence = q3 + FENCE * (q3 - q1);
  return phasedMedian(samples.map((x) => Math.min(x, fence)));
}

function quartiles(samples: readonly number[]): { q1: number; q3: number } {
  const sorted = samples.toSorted((a, b) => a - b);
  return { q1: quantile(sorted, 0.25), q3: quantile(sorted, 0.75) };
}

/** Samples of one measurement of a config: more would not change the order. */
const SAMPLES = { least: 5, most: 4 * PHASES };
const ESTIMATES = 2;

/** Takes samples of one config for about `ms` milliseconds. Returns nanoseconds. */
export async function sampleBriefly(
  c: Case,
  { config, context, ms, led }: {
    config: Values;
    context: BenchContext;
    ms: number;
    /** Whether another kernel will run at the winning config. */
    led: boolean;
  },
): Promise<{ readonly samples: readonly number[]; readonly median: number }> {
  using scope = new DisposableStack();
  const plans: Prepared[] = [];
  for (
    const { memory } of context.operands(c.problem, setsOf(context, c.problem))
  ) {
    const prepared = await context.prepare(c, { config, operands: memory });
    plans.push(scope.use(prepared));
  }
  await yieldToEventLoop();
  for (const plan of plans) plan.run();
  context.device.synchronize();
  context.pulse.beat();
  const timed = scope.use(timedOf(context, plans, c.problem, { led }));
  const estimate = timed.estimate(ESTIMATES);
  const fit = ms * 1e6 / estimate - ESTIMATES;
  const count = Math.min(
    SAMPLES.most,
    // A multiple of the phases, if there is time for so many samples.
    Math.max(
      SAMPLES.least,
      fit < PHASES ? Math.floor(fit) : fit - fit % PHASES,
    ),
  );
  context.ledger.ask(Math.max(ms, count * estimate / 1e6));
  const samples = timed.take(count);
  return { samples, median: steadyMedian(samples) };
}

/**
 * Checks one config after `uses` calls, as a kernel may become wrong, for example because it does
 * not reset a counter.
 *
 * @throws {CaseError} `wrong`, if its output is.
 */
export async function checkAfterUse(
  c: Case,
  { config, context, uses }: {
    config: Values;
    context: BenchContext;
    uses: number;
  },
): Promise<Accuracy> {
  const [set] = context.operands(c.problem);
  using prepared = await context.prepare(c, { config, operands: set!.memory });
  for (let use = 0; use < uses; use++) prepared.run();
  set!.poison();
  prepared.run();
  context.device.synchronize();
  return await verify(c, { context, set: set!, config, when: "" });
}

/** Lets pending callbacks run, for example of finished compilations. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

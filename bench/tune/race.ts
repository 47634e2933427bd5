/**
 * Finds the fastest of many by looks that grow longer as fewer are left.
 *
 * Successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and
 * Hyperparameter Optimization", 2016), but that not a half is dropped: what is clearly
 * slower than the best is, and nothing else. The last few are timed in turns, so that what
 * drifts hits all alike.
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
   * Times `entry` for `share` of its time: ordered samples, or nothing where it cannot be
   * timed and is out.
   */
  look(entry: T, share: number): Promise<readonly number[] | undefined>;
  /** Returns whether `entry` may win. Called once for each possible finalist. */
  admit(entry: T): Promise<boolean>;
  /** True to time even a config without a rival in turns. @default {false} */
  readonly always?: boolean;
}

/** One that was admitted, and its time. */
export interface Finalist<T> {
  readonly entry: T;
  /** The median of the medians of its turns, or of its last look where it had no rival. */
  readonly median: number;
}

interface Runner<T> {
  readonly entry: T;
  readonly samples: readonly number[];
  readonly median: number;
}

/** A median this many standard errors from another is another. */
const CLEARLY = 3;

/** The finalists among `entries`, fastest first; none where none may win. */
export async function race<T>(
  entries: readonly T[],
  { effort, look, admit, always = false }: RaceOptions<T>,
): Promise<readonly Finalist<T>[]> {
  let left: readonly T[] = entries;
  let runners: readonly Runner<T>[] = [];
  for (const { share, within } of effort.rounds) {
    const seen: Runner<T>[] = [];
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
 * Of ordered `runners` those that may win, from the fastest on: among the first `near` as
 * many as there are places, beyond them only as long as there is none.
 */
async function admitted<T>(
  runners: readonly Runner<T>[],
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
  one: Runner<T>,
  best: Runner<T>,
  within: number,
): boolean {
  return one.median > within * best.median &&
    one.median - best.median >
      CLEARLY * Math.hypot(errorOf(one), errorOf(best));
}

/** The standard error of a median, from the quartiles: 1.2533 σ/√n, σ = IQR / 1.349. */
function errorOf<T>({ samples }: Runner<T>): number {
  const { q1, q3 } = quartiles(samples);
  return 1.2533 * (q3 - q1) / 1.349 / Math.sqrt(samples.length);
}

/** Tukey's fence of what is far out, in interquartile ranges. */
const FENCE = 3;

/**
 * The phased median of ordered `samples`, of which those far out are moved in: of the four
 * that a phase has in a short look two may be interrupts, and would be its median.
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

/** Samples of one look at most: more would not change the order. */
const SAMPLES = { least: 5, most: 4 * PHASES };
const ESTIMATES = 2;

/** A few samples of one config in nanoseconds, taken as the settings say for `ms`. */
export async function sampleBriefly(
  c: Case,
  { config, context, ms, led }: {
    config: Values;
    context: BenchContext;
    ms: number;
    /** Whether another kernel is to run at its winner. */
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
  await turn();
  for (const plan of plans) plan.run();
  context.device.synchronize();
  context.pulse.beat();
  const timed = scope.use(timedOf(context, plans, c.problem, { led }));
  const estimate = timed.estimate(ESTIMATES);
  const fit = ms * 1e6 / estimate - ESTIMATES;
  const count = Math.min(
    SAMPLES.most,
    // Whole rounds of phases, where there is time for one.
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
 * Checks one config after `uses` calls: one that stops working, say for a counter that it
 * does not reset, must not win.
 *
 * @throws {CaseError} `wrong`, where it is not.
 */
export async function proven(
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

/** Lets what other threads have finished be taken note of, such as compilations. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * One look at one config: a few samples, or a check.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { Values } from "../model/grid.ts";
import { steadyMedian } from "./race.ts";
import type { BenchContext, Prepared } from "../measure/context.ts";
import type { Accuracy } from "../row/row.ts";
import { PHASES } from "../measure/stats.ts";
import type { Case } from "../model/suite.ts";
import { setsOf, timedOf } from "../measure/timed.ts";
import { verify } from "../measure/verify.ts";

/** Samples of one look at most: more would not change the order. */
const SAMPLES = { least: 5, most: 4 * PHASES };
const ESTIMATES = 2;

/** A few samples of one config in nanoseconds, taken as the settings say for `ms`. */
export async function glance(
  c: Case,
  { config, context, ms }: {
    config: Values;
    context: BenchContext;
    ms: number;
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
  const timed = scope.use(timedOf(context, plans, c.problem));
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
 * How right one config is after `uses` calls: one that stops working, say for a counter that it
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

/**
 * One look at one config: a few samples, or a check.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { Values } from "../model/grid.ts";
import { steadyMedian } from "./race.ts";
import type { Prepared, Rig } from "../measure/context.ts";
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
  { config, rig, ms }: { config: Values; rig: Rig; ms: number },
): Promise<{ readonly samples: readonly number[]; readonly median: number }> {
  using scope = new DisposableStack();
  const plans: Prepared[] = [];
  for (const { memory } of rig.operands(c.problem, setsOf(rig, c.problem))) {
    const prepared = await rig.prepare(c, { config, operands: memory });
    plans.push(scope.use(prepared));
  }
  await turn();
  for (const plan of plans) plan.run();
  rig.device.synchronize();
  rig.pulse.beat();
  const timed = scope.use(timedOf(rig, plans, c.problem));
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
  rig.ledger.ask(Math.max(ms, count * estimate / 1e6));
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
  { config, rig, uses }: { config: Values; rig: Rig; uses: number },
): Promise<Accuracy> {
  const [set] = rig.operands(c.problem);
  using prepared = await rig.prepare(c, { config, operands: set!.memory });
  for (let use = 0; use < uses; use++) prepared.run();
  set!.poison();
  prepared.run();
  rig.device.synchronize();
  return await verify(c, { rig, set: set!, config, when: "" });
}

/** Lets what other threads have finished be taken note of, such as compilations. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

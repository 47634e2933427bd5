/**
 * Measures two sides in turns, each time in a fresh worker.
 *
 * @module
 */

import { UserError } from "../../../bench/model/errors.ts";
import type { Job } from "../../../bench/worker/protocol.ts";
import type { Threshold } from "../../../report/diff/thresholds.ts";
import {
  type Judging,
  limitsOf,
} from "../../../session/library/compare_rows.ts";
import { Measured } from "../../../session/run_job.ts";
import { Interrupt, Progress } from "../../terminal/output.ts";

/** Runs of either side unless told otherwise: five give a spread to go by. */
export const RUNS = 5;

/** Per cent and microseconds: runs in turns differ by less than those of two days. */
const LIMITS = { threshold: 1, minUs: 0.05 };

/** Returns the thresholds of a suite's rows that were measured in turns. @throws {UserError} */
export function limitsInTurns(options: Judging): (suite: string) => Threshold {
  const { threshold = LIMITS.threshold, minUs = LIMITS.minUs } = options;
  return limitsOf(
    options.config === undefined ? { ...options, threshold, minUs } : options,
  );
}

/** A side of a comparison. */
export type Side = "base" | "next";

/** What was measured of each side. */
export type BothMeasured = Readonly<Record<Side, Measured>>;

/** Describes the turns. */
export interface Turns {
  /** Shown beside the progress. */
  readonly title: string;
  readonly runs?: number | undefined;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** Cases of one side. */
  readonly cases: number;
  /** Makes the next job of a side; undefined where nothing is left to measure. */
  job(side: Side, measured: BothMeasured): Job | undefined;
}

/** The outcome of the turns. */
export interface TurnsEnd extends BothMeasured {
  /** Why they ended early: the user stopped them, or a worker cannot run. */
  readonly cut?: UserError;
}

/** Measures both sides so many times, the first one alternating. */
export async function inTurns(
  { title, runs = RUNS, timeout, cases, job }: Turns,
): Promise<TurnsEnd> {
  const measured = { base: new Measured(), next: new Measured() };
  using interrupt = new Interrupt();
  using progress = new Progress(title, 2 * runs * cases);
  const { signal } = interrupt;
  let done = 0;
  for (let round = 0; round < runs; round++) {
    // What drifts while they run would else always be on the same side's account.
    const order = ["base", "next"] as const;
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      const next = job(side, measured);
      if (next === undefined) continue;
      try {
        const watch = { progress, timeout, signal, done };
        done = await measured[side].measure(next, watch);
      } catch (cut) {
        if (!(cut instanceof UserError)) throw cut;
        return { ...measured, cut };
      }
      if (signal.aborted) {
        const said = `Stopped in run ${round + 1} of ${runs}`;
        return { ...measured, cut: new UserError(said, 1) };
      }
    }
  }
  return measured;
}

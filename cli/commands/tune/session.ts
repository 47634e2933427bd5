/**
 * Runs a worker that chooses the configs of cases.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { Candidate } from "../../../bench/model/kernel.ts";
import { type Settings, startsEarly } from "../../../bench/model/settings.ts";
import type { Case } from "../../../bench/model/suite.ts";
import type { Tuned } from "../../../bench/worker/protocol.ts";
import { caseText, keyOf, type Row } from "../../../bench/row/row.ts";
import {
  assertChangeable,
  changeTimings,
} from "../../../bench/tune/timing_cache.ts";
import { contenders, ordered } from "../../../bench/tune/levels.ts";
import { Interrupt, Progress } from "../../terminal/output.ts";
import { jobOf, runJob } from "../../../session/run_job.ts";
import { hintsFor } from "../../../session/hints.ts";
import { Remaining, weighed } from "../../../session/remaining.ts";
import { candidatesOf } from "../../../session/run_state.ts";
import type { Selected } from "../../../session/select.ts";
import type {
  Choice,
  Running,
  Target,
  Timing,
  Tuning,
} from "../../../session/options.ts";

/** Options that `tune` has with and without `--dispatch`. */
export interface TuneOptions extends Choice, Target, Running, Timing, Tuning {
  readonly json: boolean;
}

/** The configs of a case. */
export interface Space {
  readonly legal: readonly Candidate[];
  readonly illegal: readonly Candidate[];
  /** Legal, but not worth a look at this level. */
  readonly pruned: readonly Candidate[];
}

/** A case and the outcome of tuning it. */
export interface TunedCase {
  readonly one: Case;
  readonly space: Space;
  readonly row: Row;
  /** Missing where no config was chosen. */
  readonly tuned?: Tuned;
}

/** Options of tuning cases. */
export interface TuneSession {
  readonly settings: Settings;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** The only configs that a case may choose from, by key text. */
  readonly probes?: Readonly<Record<string, readonly string[]>>;
  /** Takes every case that is done. */
  finished?(one: TunedCase): void;
}

/** The cases that were tuned; fewer than were wanted where it was stopped. */
export interface TuneEnd {
  readonly done: readonly TunedCase[];
  /** Configs that were written to the timing cache. */
  readonly kept: number;
}

/**
 * Tunes the cases of `selected`, which may be fewer than its selection has, and writes each
 * found config to the timing cache.
 *
 * @throws {UserError} Where the timing cache cannot be written, before anything is measured.
 */
export async function tuneCases(
  { cases, selection, info }: Selected,
  { settings, timeout, probes, finished }: TuneSession,
): Promise<TuneEnd> {
  const { timingCache } = settings;
  if (timingCache !== undefined) assertChangeable(timingCache);
  let kept = 0;
  const wanted = new Map(cases.map((c) => [caseText(keyOf(c)), c]));
  const done: TunedCase[] = [];
  const tuned = new Map<string, Tuned>();
  using interrupt = new Interrupt();
  using progress = new Progress("tune", cases.length);
  const configs = probes ? { among: probes } : {};
  const job = jobOf({ selection, cases, settings, configs, run: "tune" });
  await runJob(job, {
    progress,
    remaining: new Remaining(weighed(cases, info)),
    timeout,
    signal: interrupt.signal,
    done: 0,
    failed: 0,
    take(event) {
      if (event.event === "tuned") {
        tuned.set(caseText(event.key), event);
        const { entry } = event;
        if (entry && timingCache !== undefined) {
          changeTimings(timingCache, (timings) => timings.improve(entry));
          kept++;
        }
      }
      if (event.event !== "row") return;
      const key = caseText(event.row.key);
      const one = wanted.get(key);
      if (!one) return;
      const how = tuned.get(key);
      const result = {
        one,
        space: spaceOf(one, info, settings),
        row: event.row,
        ...(how ? { tuned: how } : {}),
      };
      done.push(result);
      finished?.(result);
    },
  });
  return { done, kept };
}

/**
 * The configs of `one`; none where its kernel cannot run here or cannot say, which its row
 * then tells.
 */
function spaceOf(
  one: Case,
  info: DeviceInfo,
  { level, timer }: Pick<Settings, "level" | "timer">,
): Space {
  const all = candidatesOf(one, info) ?? [];
  const legal = all.filter(({ illegal }) => illegal === undefined);
  const hint = one.offers
    ? undefined
    : hintsFor(info, startsEarly(timer)).of(keyOf(one), legal);
  const kept = new Set(contenders(ordered(legal, hint), level, hint));
  return {
    legal,
    illegal: all.filter(({ illegal }) => illegal !== undefined),
    pruned: legal.filter((candidate) => !kept.has(candidate)),
  };
}

/** Counts the `candidates` that each rule speaks against, most first. */
export function byRule(
  candidates: readonly Candidate[],
): readonly (readonly [string, number])[] {
  const rules = Map.groupBy(candidates, ({ rule }) => rule ?? "no rule");
  return [...rules].map(([rule, list]) => [rule, list.length] as const)
    .sort(([, a], [, b]) => b - a);
}

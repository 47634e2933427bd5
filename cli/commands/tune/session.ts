/**
 * Runs a worker that chooses the configs of cases.
 *
 * @module
 */

import type { Settings } from "../../../bench/model/settings.ts";
import type { Event, Tuned } from "../../../bench/worker/protocol.ts";
import { keyOf, keyText } from "../../../bench/row/row.ts";
import { Interrupt } from "../../terminal/interrupt.ts";
import { Progress } from "../../terminal/progress.ts";
import { jobOf, runJob } from "../../../session/run_job.ts";
import { type Selected, settingsOf } from "../../../session/selection.ts";
import { tuningOf } from "../../../session/remembered_timings.ts";
import { spaceOf, type TunedCase } from "../../../session/tune_case.ts";
import type { Running, Timing, Tuning } from "../../../session/options.ts";

/** How cases are tuned. */
export interface TuneSession {
  readonly settings: Settings;
  /** Seconds of silence after which a case is given up. */
  readonly timeout: number;
  /** The only configs that a case may choose from, by key text. */
  readonly probes?: Readonly<Record<string, readonly string[]>>;
  /** Takes every event. */
  take?(event: Event): void;
  /** Takes every case that is done. */
  finished?(one: TunedCase): void;
}

/** The settings that choose configs and time no winner. */
export function tuneSettings(
  options: Running & Timing & Tuning,
): Settings {
  const { warmup, rep, search, timer, cache, flush } = options;
  const how = { warmup, rep, search, timer, cache, flush };
  return settingsOf(options, { ...how, ...tuningOf(options), tune: true });
}

/** Tunes the cases of `selected`, which may be fewer than its selection has. */
export async function tuneCases(
  { cases, selection, info }: Selected,
  { settings, timeout, probes, take, finished }: TuneSession,
): Promise<readonly TunedCase[]> {
  const wanted = new Map(cases.map((c) => [keyText(keyOf(c)), c]));
  const done: TunedCase[] = [];
  const tuned = new Map<string, Tuned>();
  using interrupt = new Interrupt();
  using progress = new Progress("tune", cases.length);
  const configs = probes ? { among: probes } : {};
  const job = jobOf({ selection, cases, settings, configs, run: "tune" });
  await runJob(job, {
    progress,
    timeout,
    signal: interrupt.signal,
    done: 0,
    failed: 0,
    take(event) {
      take?.(event);
      if (event.event === "tuned") tuned.set(keyText(event.key), event);
      if (event.event !== "row") return;
      const key = keyText(event.row.key);
      const one = wanted.get(key);
      if (!one) return;
      const how = tuned.get(key);
      const result = {
        one,
        space: spaceOf(one, info, settings.level),
        row: event.row,
        ...(how ? { tuned: how } : {}),
      };
      done.push(result);
      finished?.(result);
    },
  });
  return done;
}

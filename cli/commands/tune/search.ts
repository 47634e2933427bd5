/**
 * `mnkbench tune`: finds the best config of each kernel at each point, and remembers it.
 *
 * @module
 */

import { EXIT } from "../../../bench/model/errors.ts";
import type { Event } from "../../../bench/worker/protocol.ts";
import { changeTimings } from "../../../bench/tune/timing_file.ts";
import { formatSeconds } from "../../terminal/progress.ts";
import { select, type Selected } from "../../../session/selection.ts";
import { exitCodeOf } from "../../../session/run_job.ts";
import { nothing } from "../../../session/select.ts";
import { say, tell } from "../../terminal/output.ts";
import { fromCache, keptIn } from "../../../session/remembered_timings.ts";
import { isTunable, type TunedCase } from "../../../session/tune_case.ts";
import type {
  Choice,
  Running,
  Target,
  Timing,
  Tuning,
} from "../../../session/options.ts";
import { tuneCases, tuneSettings } from "./session.ts";
import {
  skipLines,
  skipSummary,
  tuneJson,
  tuneTable,
} from "./results_table.ts";

/** How configs are searched, and how it is shown. */
export interface SearchOptions extends Choice, Target, Running, Timing, Tuning {
  readonly skips: boolean;
  readonly json: boolean;
}

/** Searches. @returns The exit code. */
export async function search(options: SearchOptions): Promise<number> {
  const start = performance.now();
  const selected = await select(options);
  for (const note of selected.notes) tell(note);
  const cases = selected.cases.filter((c) => isTunable(c, selected.info));
  if (cases.length === 0) {
    throw nothing(
      `no selected kernel has more than one config on ${selected.selection.backend}`,
    );
  }
  const settings = tuneSettings(options);
  const { timingCache } = settings;
  // Before anything is measured, or it would have nowhere to go.
  if (timingCache !== undefined) changeTimings(timingCache, () => {});
  let kept = 0;
  const done = await tuneCases(
    { ...selected, cases },
    {
      settings,
      timeout: options.timeout,
      take(event: Event) {
        if (event.event !== "tuned" || !event.entry) return;
        if (timingCache === undefined) return;
        const { entry } = event;
        changeTimings(timingCache, (timings) => timings.improve(entry));
        kept++;
      },
      finished: (one) => {
        if (options.json) say(tuneJson(one));
      },
    },
  );
  show(done, { options, selected });
  if (timingCache !== undefined) {
    for (const note of fromCache(done.map(({ row }) => row), timingCache)) {
      tell(note);
    }
    if (kept > 0) tell(keptIn(kept, timingCache));
  }
  tell(`Took ${formatSeconds((performance.now() - start) / 1000)}`);
  if (done.length < cases.length) {
    tell("Stopped: the same command goes on with what is not in the cache yet");
    return EXIT.failed;
  }
  return exitCodeOf(done.map(({ row }) => row));
}

function show(
  cases: readonly TunedCase[],
  { options, selected }: { options: SearchOptions; selected: Selected },
): void {
  const out = options.json ? tell : say;
  if (!options.json) {
    const suites = Map.groupBy(cases, ({ one }) => one.suite);
    for (const [suite, own] of suites) {
      const lines = tuneTable(own);
      if (lines.length === 0) continue;
      say(`${suite} on ${selected.info.name}, level ${options.level}`);
      for (const line of lines) say(line);
    }
  }
  const lost = cases.filter(({ row }) => row.status === "unsupported");
  if (lost.length > 0) {
    const { kernel, problem } = lost[0]!.one;
    out(
      `${lost.length} unsupported, such as ${kernel} at ${problem.title}: ${
        lost[0]!.row.note
      }`,
    );
  }
  for (const line of skipSummary(cases)) out(line);
  if (options.skips) { for (const line of skipLines(cases)) out(line); }
}

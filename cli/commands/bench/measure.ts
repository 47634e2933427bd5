/**
 * `mnkbench bench`: select, measure, keep, compare.
 *
 * @module
 */

import type { Spent } from "../../../bench/measure/time_ledger.ts";
import { EXIT } from "../../../bench/model/errors.ts";
import type { Settings } from "../../../bench/model/settings.ts";
import type { Row } from "../../../bench/row/row.ts";
import { refuseClashes } from "./clashes.ts";
import { dryRun } from "./dry_run.ts";
import { once } from "./once.ts";
import { Interrupt } from "../../terminal/interrupt.ts";
import { jsonRow } from "../../terminal/json_row.ts";
import { nextLine } from "../../terminal/next_command.ts";
import { say, screenOf, tell } from "../../terminal/output.ts";
import { formatSeconds, Progress } from "../../terminal/progress.ts";
import { formatTable } from "../../../report/table/table.ts";
import type { BenchOptions } from "../../../session/options.ts";
import { tuningOf } from "../../../session/remembered_timings.ts";
import { exitCodeOf } from "../../../session/run_job.ts";
import {
  select,
  type Selected,
  settingsOf,
} from "../../../session/selection.ts";
import { sweep } from "../../../session/sweep.ts";

/** Runs the sweep. @returns The exit code. */
export async function bench(options: BenchOptions): Promise<number> {
  refuseClashes(options);
  const selected = await select(options);
  for (const note of selected.notes) tell(note);
  if (options.dryRun) return dryRun(selected);
  const { warmup, rep, search, timer, cache, flush } = options;
  const settings = settingsOf(options, {
    warmup,
    rep,
    search,
    timer,
    cache,
    flush,
    once: options.once,
    ...tuningOf(options),
  });
  if (options.once) return await once(selected, settings);
  return await measure(options, selected, settings);
}

async function measure(
  options: BenchOptions,
  selected: Selected,
  settings: Settings,
): Promise<number> {
  const start = performance.now();
  using interrupt = new Interrupt();
  const { runs, out, fresh, resume, timeout } = options;
  const end = await sweep(selected, settings, {
    ...{ runs, out, fresh, resume, timeout, signal: interrupt.signal },
    command: Deno.args,
    observer: {
      note: tell,
      row(row) {
        if (options.json) say(jsonRow(row));
      },
      progress: (total, done) => new Progress("bench", total, { done }),
    },
  });
  if (interrupt.signal.aborted) {
    tell(`Stopped with ${end.kept} rows kept: the same command goes on`);
    return EXIT.failed;
  }
  if (!options.json) showTable(end.rows, selected);
  tell(costLine(end.spent, (performance.now() - start) / 1000));
  tell(`The worker held ${Math.ceil(end.memoryBytes / 1e6)} MB at most`);
  for (const path of end.paths) tell(`Wrote ${path}`);
  tell(nextLine(end.rows, { selected, settings }));
  return exitCodeOf(end.rows);
}

function showTable(rows: readonly Row[], { suites }: Selected): void {
  const baselines = Object.fromEntries(
    suites.map((suite) => [suite.name, suite.baselines]),
  );
  const lines = formatTable(rows, { ...screenOf(Deno.stdout), baselines });
  for (const line of lines) say(line);
}

/**
 * What was spent on what in `wall` seconds, and how that compares with the measuring that the
 * options ask for. Compilers, starts of workers and the least number of samples of a slow
 * kernel come on top of it.
 *
 * @example
 * ```ts
 * import { costLine } from "./measure.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const spent = { build: 41000, calibrate: 600, search: 9000, check: 5000, time: 20000 };
 * strictEqual(
 *   costLine([{ ...spent, asked: 23600, total: 77000 }], 78.1),
 *   "Took 1 min 18 s, 3.31x the 23.6 s of measuring that the options ask for: warm-up and repetitions of all cases, with searches, checks and calibration (spent: build 41.0, calibrate 0.6, search 9.0, check 5.0, time 20.0 s)",
 * );
 * ```
 */
export function costLine(spent: readonly Spent[], wall: number): string {
  const sum = (of: keyof Spent) =>
    spent.reduce((total, s) => total + s[of], 0) / 1000;
  const parts = (["build", "calibrate", "search", "check", "time"] as const)
    .map((of) => `${of} ${sum(of).toFixed(1)}`);
  const asked = sum("asked");
  const ratio = asked > 0
    ? `, ${(wall / asked).toFixed(2)}x the ${
      asked.toFixed(1)
    } s of measuring that the options ask for: warm-up and repetitions of all cases, with searches, checks and calibration`
    : "";
  return `Took ${formatSeconds(wall)}${ratio} (spent: ${parts.join(", ")} s)`;
}

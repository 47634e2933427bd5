/**
 * `mnkbench bench`: select, measure, keep, compare.
 *
 * @module
 */

import { openJournal, type RunInfo } from "../../../bench/worker/journal.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { Spent } from "../../../bench/measure/time_ledger.ts";
import type { Row } from "../../../bench/row/row.ts";
import {
  assertPublishable,
  combined,
  publish,
} from "../../../bench/row/results.ts";
import { formatTable } from "../../../report/table/table.ts";
import { refuseClashes } from "./clashes.ts";
import { demandComplete, missingCases } from "../../../session/complete.ts";
import { dryRun } from "./dry_run.ts";
import { VERSION } from "../../../session/home.ts";
import { Interrupt } from "../../terminal/interrupt.ts";
import { jsonRow } from "../../terminal/json_row.ts";
import { Losses } from "../../../session/crashed_configs.ts";
import { nextLine } from "../../terminal/next_command.ts";
import { once } from "./once.ts";
import type { BenchOptions } from "../../../session/options.ts";
import { costLine } from "../../terminal/cost_line.ts";
import { Progress } from "../../terminal/progress.ts";
import { isPeer, peerNamed, peersJob } from "../../../peers/peer_cases.ts";
import {
  select,
  type Selected,
  settingsOf,
} from "../../../session/selection.ts";
import { exitCodeOf, isFailure, runJob } from "../../../session/run_job.ts";
import { say, screenOf, tell } from "../../terminal/output.ts";
import {
  fromCache,
  Remembered,
  tuningOf,
} from "../../../session/remembered_timings.ts";
import { sourcesOf, validity } from "../../../session/validity.ts";

/** Folder of unfinished runs, where the command is given. */
const RUNS = ".runs";

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
  return await sweep(options, selected, {
    selection: selected.selection,
    settings,
    runs: options.runs,
    harness: VERSION,
    device: selected.info.name,
    arch: selected.info.arch,
    command: Deno.args,
    started: new Date().toISOString(),
  });
}

async function sweep(
  options: BenchOptions,
  selected: Selected,
  info: RunInfo,
): Promise<number> {
  const start = performance.now();
  const { fresh, runs, timeout } = options;
  // Before anything is measured, or it would have nowhere to go.
  await assertPublishable(options.out, {
    device: info.device,
    suites: [...new Set(selected.cases.map(({ suite }) => suite))],
  });
  using journal = openJournal(RUNS, info, {
    fresh,
    stillValid: validity(selected, info.settings),
  });
  if (options.resume && !journal.resumed) {
    journal.finish();
    throw new UserError(
      "No unfinished run of this command is here: leave out --resume",
      EXIT.nothing,
    );
  }
  const show = (row: Row) => {
    if (options.json) say(jsonRow(row));
  };
  for (const note of journal.notes) tell(note);
  const kept = journal.rows;
  if (journal.resumed) {
    tell(
      `Going on with the run of ${journal.info.started}: ${kept.length} rows are there; --fresh discards them`,
    );
  }
  for (const { row } of kept) show(row);
  const losses = new Losses(journal, sourcesOf(selected, info.settings));

  using interrupt = new Interrupt();
  const { signal } = interrupt;
  const spent: Spent[] = [];
  const remembered = new Remembered(
    info.settings,
    journal.file("timings.json"),
  );
  let memoryBytes = 0;
  let state = {
    done: kept.length,
    failed: kept.filter(({ row }) => isFailure(row)).length,
  };
  {
    const total = runs * selected.cases.length;
    using progress = new Progress("bench", total, { done: state.done });
    for (let repeat = 0; repeat < runs && !signal.aborted; repeat++) {
      const missing = missingCases(journal, selected.cases, repeat);
      for (const peers of [false, true]) {
        if (signal.aborted || !missing.some((c) => isPeer(c) === peers)) {
          continue;
        }
        const job = {
          selection: info.selection,
          settings: info.settings,
          skip: [...journal.done(repeat)],
          winners: journal.winners(repeat),
          lost: losses.all,
          run: journal.run,
          ...(peers ? peersJob(journal) : {}),
        };
        const end = await runJob(job, {
          ...state,
          progress,
          timeout,
          signal,
          take(event) {
            remembered.take(event);
            losses.take(event, repeat);
            if (event.event === "calibration") {
              journal.calibration = event.calibration;
            }
            if (event.event !== "row" || event.row.status === "checked") return;
            journal.append({ row: event.row, repeat }, event.samples);
            show(event.row);
          },
        });
        state = end;
        if (end.spent) spent.push(end.spent);
        memoryBytes = Math.max(memoryBytes, end.memoryBytes);
      }
    }
  }
  // At the end: repeats that share a config would hide what choosing it varies by.
  const { timingCache } = info.settings;
  const ours = journal.rows.map(({ row }) => row)
    .filter(({ key }) => peerNamed(key.kernel) === undefined);
  for (const note of fromCache(ours, timingCache)) tell(note);
  for (const note of remembered.keep()) tell(note);
  if (signal.aborted) {
    tell(
      `Stopped with ${journal.rows.length} rows kept: the same command goes on`,
    );
    return EXIT.failed;
  }

  demandComplete(journal, selected.cases, runs);
  const rows = combined(journal);
  const paths = await publish(journal, options.out);
  if (!options.json) showTable(rows, selected);
  tell(costLine(spent, (performance.now() - start) / 1000));
  tell(`The worker held ${Math.ceil(memoryBytes / 1e6)} MB at most`);
  for (const path of paths) tell(`Wrote ${path}`);
  tell(nextLine(rows, { selected, settings: info.settings }));
  return exitCodeOf(rows);
}

function showTable(rows: readonly Row[], { suites }: Selected): void {
  const baselines = Object.fromEntries(
    suites.map((suite) => [suite.name, suite.baselines]),
  );
  const lines = formatTable(rows, { ...screenOf(Deno.stdout), baselines });
  for (const line of lines) say(line);
}

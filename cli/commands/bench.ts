/**
 * `mnkbench bench`: sweeps suites.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { LATEST, RESULTS, typed } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  choiceFlags,
  devicesFlags,
  maybe,
  peers,
  preset,
  python,
  runningFlags,
  shard,
  timingFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";
import { sourceFlags, withFile } from "../options/source.ts";
import { number, path, timesNothing } from "../options/readers.ts";
import type { Spent } from "../../bench/measure/time_ledger.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { isPythonCase } from "../../bench/model/peer.ts";
import type { Suite } from "../../bench/model/suite.ts";
import {
  DEFAULTS,
  MOST_RUNS,
  type Settings,
} from "../../bench/model/settings.ts";
import type { Row } from "../../bench/row/row.ts";
import type { Event } from "../../bench/worker/protocol.ts";
import {
  formatSeconds,
  Interrupt,
  jsonRow,
  logLine,
  logWrapped,
  printLine,
  Progress,
  screenOf,
} from "../terminal/output.ts";
import { nextCommand } from "../terminal/next_command.ts";
import { formatTable } from "../../report/table/table.ts";
import { assertPublishable } from "../../bench/row/results.ts";
import { hasRows, type Joined, joinShards } from "./bench/join.ts";
import { importRecorded, showVerdicts } from "./import/recorded.ts";
import {
  clusterFlags,
  refuseCluster,
  reportProgress,
  runShards,
} from "../slurm.ts";
import { formatTables, tablesOf } from "./table/tables.ts";
import { shownJson } from "../../bench/files/json_file.ts";
import { flatRow } from "../../bench/row/flat_row.ts";
import {
  demandPeersBackend,
  demandShardFolder,
  settingsOf,
} from "../../session/options.ts";
import {
  exitCodeOf,
  failureLine,
  isFailure,
  jobOf,
} from "../../session/run_job.ts";
import {
  baselinesOf,
  type OwnBaselines,
} from "../../session/library/baselines.ts";
import { loadSuites } from "../../session/cases.ts";
import { titleOf } from "../../session/phase_note.ts";
import { askKernel } from "../../session/suite_calls.ts";
import { isOwnKernel, notRun } from "../../session/own_kernels.ts";
import { casesAnywhere, select, type Selected } from "../../session/select.ts";
import { NoDeviceError } from "../../session/take_device.ts";
import { continuedBy, sweep } from "../../session/sweep.ts";

/** `mnkbench bench`. */
export const command = define({
  name: "bench",
  brief: BRIEFS.bench,
  examples: [
    "bench --suite matmul-bf16 --m 16,32 --k 4096:65536:*2",
    "bench --suite ./my_suite.ts --kernel mine --runs 3 --out new",
  ],
  codes: {
    0: "all rows are ok or unsupported",
    1: "a row failed; stopped by Ctrl-C it is 130, by SIGTERM 143",
    3: "no usable device, no case, nothing to resume, or no own kernel of a suite file ran",
  },
  flags,
  run: bench,
});

function flags(words: Words) {
  return merge(
    sourceFlags(),
    choiceFlags(words),
    devicesFlags(words),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Peers", { peers: peers(), python: python() }),
    object("Results", {
      shard: shard(),
      runs: preset(
        "--runs",
        number("COUNT", { least: 1, most: MOST_RUNS }),
        "Repeat in this many fresh workers and record their spread.",
        1,
      ),
      out: maybe(
        "--out",
        path("DIR"),
        `Folder of CSVs (default: ${LATEST}, with verdicts against the recorded rows).`,
      ),
      record: toggle(
        "--record",
        `Show these verdicts, then put the rows into ${RESULTS} too.`,
      ),
      resume: toggle(
        "--resume",
        "Continue an unfinished run, and stop if there is none.",
      ),
      fresh: toggle("--fresh", "Discard an unfinished run."),
      once: toggle(
        "--once",
        "Run one case once, in this process, unflushed and untimed: for ncu and compute-sanitizer.",
      ),
      dryRun: toggle("--dry-run", "List the cases that would run."),
      json: toggle("--json", "Print rows as lines of JSON."),
    }),
    clusterFlags(),
  );
}

type BenchOptions = InferValue<ReturnType<typeof flags>>;

async function bench(given: BenchOptions): Promise<number> {
  refuseClashes(given);
  const options = await withFile(given);
  if (options.dryRun) return await dryRun(options);
  if (options.on) return await benchOnCluster(options);
  reportProgress(options);
  // A scheduler, which asks for --progress, may start more shards than there are cases.
  const orNone = options.progress !== undefined;
  const selected = await select({ ...options, orNone });
  for (const note of selected.notes) logLine(note);
  if (selected.cases.length === 0) {
    logLine("This shard has no case");
    return EXIT.ok;
  }
  const settings = settingsOf(options, { once: options.once });
  if (options.once) return await once(given, selected, settings);
  return await measure(given, selected, settings);
}

async function measure(
  options: BenchOptions,
  selected: Selected,
  settings: Settings,
): Promise<number> {
  const start = performance.now();
  using interrupt = new Interrupt();
  const failed: Row[] = [];
  const { runs, fresh, resume, timeout, record } = options;
  const { out = LATEST } = options;
  if (record) {
    await assertPublishable(RESULTS, {
      device: selected.info.name,
      suites: [...new Set(selected.cases.map(({ suite }) => suite))],
    });
  }
  const end = await sweep(selected, settings, {
    runs,
    out,
    fresh,
    resume,
    timeout,
    signal: interrupt.signal,
    command: Deno.args,
    observer: {
      note: logLine,
      row(row) {
        if (options.json) printLine(jsonRow(row));
      },
      progress(total, done) {
        const progress = new Progress("bench", total, { done });
        if (options.json) return progress;
        const fail = (row: Row) => {
          // The table, or what is said of a stopped run, has its note.
          progress.print(failureLine({ ...row, note: "" }));
          failed.push(row);
        };
        return Object.assign(progress, { fail });
      },
    },
  });
  if (interrupt.signal.aborted) {
    for (const row of failed) logLine(failureLine(row));
    for (const path of end.paths) logLine(`Wrote ${path}`);
    logLine(
      `Stopped with ${counted(end.kept, "row")} kept: ${continuedBy(fresh)}`,
    );
    return EXIT.failed;
  }
  if (!options.json) showTable(end.rows, selected, options);
  logWrapped(costLine(end.spent, (performance.now() - start) / 1000));
  logLine(`The worker held ${Math.ceil(end.memoryBytes / 1e6)} MB at most`);
  for (const path of end.paths) logLine(`Wrote ${path}`);
  if (options.out === undefined) {
    const runs = [`${end.rows[0]!.provenance.run}`];
    await judge(options, { runs, paths: end.paths });
  }
  // Of a kernel file the next command chooses its kernels itself.
  const { kernels } = options;
  const next = { ...selected, selection: { ...selected.selection, kernels } };
  if (options.shard === undefined || end.rows.some(isFailure)) {
    logLine(
      nextCommand(end.rows, { selected: next, settings, out: options.out }),
    );
  } else {
    logLine(`Next, with the folder of each shard: ${typed("import")} SHARD...`);
  }
  const idle = await notRun(selected, end.rows, options);
  if (idle !== undefined) logLine(idle);
  const code = exitCodeOf(end.rows);
  return code === EXIT.ok && idle !== undefined ? EXIT.nothing : code;
}

/** Measures shards on a cluster, and joins their rows. @returns The exit code. */
async function benchOnCluster(options: BenchOptions): Promise<number> {
  const { out = LATEST, json } = options;
  // Unknown names are refused before anything waits in a queue.
  await casesAnywhere(options);
  using ended = await runShards({
    name: "bench",
    options,
    hasRows: true,
    without: { "--out": true, "--record": false, "--json": false },
    isWhole: hasRows,
  });
  if (ended === undefined) return EXIT.ok;
  const { rows, paths, runs } = await joinShards(ended.files, out);
  if (json) { for (const row of rows) printLine(shownJson(flatRow(row))); }
  else {
    const own = ownBaselines(await loadSuites(options.suites));
    const layout = {
      own,
      against: [],
      kernels: [],
      metrics: [],
      sides: [],
      baseline: undefined,
      gemmFraction: undefined,
      wins: false,
      tuning: false,
      format: "text" as const,
      all: options.kernels.length > 0,
    };
    // The shards of a run are one run.
    const one = rows.map((row) => ({ ...row, run: runs[0]! }));
    const tables = tablesOf({ rows: one, sides: [], own }, layout);
    printLine(formatTables(tables, layout, screenOf(Deno.stdout)));
  }
  for (const path of paths) logLine(`Wrote ${path}`);
  if (options.out === undefined) await judge(options, { paths, runs });
  ended.remove();
  if (rows.some(isFailure)) return EXIT.failed;
  return ended.codes.every((code) => code === EXIT.nothing)
    ? EXIT.nothing
    : EXIT.ok;
}

/** Shows verdicts against the recorded rows, and records those of `runs` where that is asked for. */
async function judge(
  { record, json }: BenchOptions,
  { runs, paths: files }: Pick<Joined, "runs" | "paths">,
): Promise<void> {
  const options = {
    sources: [{ from: LATEST, only: { files, runs } }],
    into: RESULTS,
    print: json ? logLine : printLine,
  };
  if (record) {
    await importRecorded(options);
    return;
  }
  try {
    await showVerdicts(options);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    logLine(`No verdicts: ${error.message}`);
  }
}

function ownBaselines(suites: readonly Suite[]): OwnBaselines {
  return new Map(suites.map(({ name, baselines }) => [name, baselines]));
}

function showTable(
  rows: readonly Row[],
  { suites }: Selected,
  { kernels }: Pick<BenchOptions, "kernels">,
): void {
  const own = ownBaselines(suites);
  const baselines = Object.fromEntries(
    suites.map(({ name }) => [name, baselinesOf(name, { own })]),
  );
  const lines = formatTable(rows, {
    ...screenOf(Deno.stdout),
    baselines,
    isMine: isOwnKernel,
    areSome: kernels.length > 0,
  });
  for (const line of lines) printLine(line);
}

/**
 * Formats the time spent, `wall` seconds in all: by phase, and the share that the options ask for.
 *
 * @example
 * ```ts
 * import { costLine } from "./bench.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const spent = { build: 41000, calibrate: 600, search: 9000, check: 5000, time: 20000 };
 * strictEqual(
 *   costLine([{ ...spent, asked: 23600, total: 77000 }], 78.1),
 *   "Took 1 min 18 s: build 41.0, calibrate 0.6, search 9.0, check 5.0, time 20.0 s; --warmup, --rep and --level ask for 23.6 s",
 * );
 * ```
 */
export function costLine(spent: readonly Spent[], wall: number): string {
  const sum = (of: keyof Spent) =>
    spent.reduce((total, s) => total + s[of], 0) / 1000;
  const parts = (["build", "calibrate", "search", "check", "time"] as const)
    .map((of) => `${of} ${sum(of).toFixed(1)}`);
  const asked = sum("asked").toFixed(1);
  return `Took ${formatSeconds(wall)}: ${
    parts.join(", ")
  } s; --warmup, --rep and --level ask for ${asked} s`;
}

/** @throws {UserError} For options of which one makes another one meaningless. */
function refuseClashes(options: BenchOptions): void {
  const { resume, fresh, once, dryRun, json, device } = options;
  refuseCluster(options, {
    "--shard": options.shard !== undefined,
    "--once": once,
    "--resume": resume,
    "--fresh": fresh,
  });
  if (once && options.devices !== undefined) {
    throw new UserError("--once runs one case: give --device one number");
  }
  if (options.record && options.out !== undefined) {
    throw new UserError(
      `--record puts the rows into ${RESULTS}: leave out --record or --out`,
    );
  }
  const nameOf = (option: string) => `--${option}`;
  if (!once && !dryRun) demandShardFolder(options, nameOf);
  if (typeof device === "string" && !once && !dryRun) {
    throw new UserError(`Cannot bench: ${timesNothing(device)}`);
  }
  if (resume && fresh) {
    throw new UserError(
      "Cannot both resume a run and start afresh: leave out --resume or --fresh",
    );
  }
  if (dryRun && json) {
    throw new UserError(
      `Cannot print rows of a dry run: leave out --json, or print the cases as JSON with \`${
        typed("list --cases --json")
      }\``,
    );
  }
  demandPeersBackend(options, nameOf);
  // Not those of the timer and of caches: the timing cache keeps a config for each.
  const meaningless = [
    ...(options.warmup !== DEFAULTS.warmup ? ["--warmup"] : []),
    ...(options.rep !== undefined ? ["--rep"] : []),
    ...(options.precision !== undefined ? ["--precision"] : []),
    ...(options.search !== DEFAULTS.search ? ["--search"] : []),
    ...(options.progress !== undefined ? ["--progress"] : []),
    ...(json ? ["--json"] : []),
    ...(options.runs !== 1 ? ["--runs"] : []),
    ...(options.out !== undefined ? ["--out"] : []),
    ...(options.record ? ["--record"] : []),
    ...(resume ? ["--resume"] : []),
    ...(fresh ? ["--fresh"] : []),
  ];
  if (once && meaningless.length > 0) {
    throw new UserError(
      `--once only checks, and writes no times, rows or progress: leave out ${
        meaningless.join(", ")
      }`,
    );
  }
}

/** Prints a line for each case, with its configs where a device tells. @returns The exit code. */
async function dryRun(options: BenchOptions): Promise<number> {
  const { cases, info } = await selectOrList(options);
  for (const one of cases) {
    const parts = [one.suite, one.kernel, one.backend, one.problem.title];
    const reason = info &&
      askKernel(one, "unsupported()", () => one.unsupported(info));
    if (info === undefined) parts.push("configs unknown");
    else if (reason !== undefined) parts.push(`unsupported: ${reason}`);
    else {
      const all = askKernel(
        one,
        "rules, configs() or predict()",
        () => [...one.candidates(info)],
      );
      parts.push(configsOf(all));
    }
    printLine(parts.join("  "));
  }
  logLine(`${counted(cases.length, "case")}; nothing was run`);
  return EXIT.ok;
}

/** Selects the cases of `options`; without a device those of all backends that were meant. */
async function selectOrList(
  options: BenchOptions,
): Promise<Pick<Selected, "cases"> & Partial<Pick<Selected, "info">>> {
  try {
    const selected = await select(options);
    for (const note of selected.notes) logLine(note);
    return selected;
  } catch (error) {
    if (!(error instanceof NoDeviceError)) throw error;
    logLine(error.message);
    return { cases: await casesAnywhere(options) };
  }
}

function configsOf(
  candidates: readonly { readonly illegal?: string | undefined }[],
): string {
  const legal = candidates.filter(({ illegal }) => illegal === undefined);
  const illegal = candidates.length - legal.length;
  return `${counted(legal.length, "config")}${
    illegal > 0 ? ` (${illegal} illegal)` : ""
  }`;
}

/**
 * Runs the only case of `selected`, or the only one of the user's own kernels where none is
 * named: whoever profiles `mine.cu` does not mean the libraries. @returns The exit code.
 */
async function once(
  { kernels }: BenchOptions,
  selected: Selected,
  settings: Settings,
): Promise<number> {
  const { selection } = selected;
  const own = selected.cases.filter(isOwnKernel);
  const isNamed = kernels.length > 0 || own.length === 0;
  const cases = isNamed ? selected.cases : own;
  if (cases.length !== 1) {
    throw new UserError(
      `Cannot run ${cases.length} cases with --once: narrow it to one with --suite, --kernel, --m, --n, --k, --axis and --where; --dry-run lists the cases`,
    );
  }
  if (isPythonCase(cases[0]!)) {
    throw new UserError(
      `Cannot run ${
        cases[0]!.kernel
      } with --once: Python runs it, in a process of its own; leave out --once`,
    );
  }
  if (selection.peers?.set !== undefined) {
    throw new UserError(
      `--once runs ${cases[0]!.kernel} alone: leave out --peers`,
    );
  }
  let code: number = EXIT.failed;
  const take = (event: Event) => {
    if (event.event !== "row") return;
    const { row } = event;
    if (isFailure(row)) return logLine(failureLine(row));
    code = EXIT.ok;
    printLine(`${titleOf(row.key)}: ${row.note || row.status}`);
  };
  // Runs kernels in this process: no other command loads what that needs.
  const { work } = await import("../../session/worker.ts");
  await work(jobOf({ ...selected, cases, settings, run: "once" }), take);
  return code;
}

/**
 * `mnkbench list`: suites with their kernels, cases, stale recorded rows, or unfinished runs.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { EMULATED, emulatedApi } from "../../backends/emulator/names.ts";
import { readBytesIfThere } from "../../bench/files/disk.ts";
import { aligned, counted } from "../../bench/files/terminal_text.ts";
import { EXIT, type ExitCode, UserError } from "../../bench/model/errors.ts";
import type { Case, Suite } from "../../bench/model/suite.ts";
import { keyOf } from "../../bench/row/row.ts";
import {
  isInProgress,
  type UnfinishedRun,
  unfinishedRuns,
  unlessRefused,
} from "../../bench/worker/run_folder.ts";
import {
  casesWithin,
  choose,
  isFile,
  isSource,
  nothing,
} from "../../session/cases.ts";
import { quoted, RUNS, typed } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  choiceFlags,
  paths,
  peers,
  toggle,
  type Words,
} from "../options/flags.ts";
import { logLine, printLine } from "../terminal/output.ts";

type ListOptions = InferValue<ReturnType<typeof flags>>;

/** `mnkbench list`. */
export const command = define({
  name: "list",
  brief: BRIEFS.list,
  examples: [
    "list --suite matmul-bf16",
    "list --stale results/nvidia-h200",
  ],
  codes: {
    0: "the listing is printed",
    1: "with --stale: a row is stale",
    3: "no case is selected, or no row is there",
  },
  flags,
  run: list,
});

function flags(words: Words) {
  return merge(
    choiceFlags(words, "all"),
    object("Listing", {
      peers: peers("List"),
      cases: toggle("--cases", "List every case, not suites and kernels."),
      stale: toggle(
        "--stale",
        "List recorded rows whose kernels changed since, and the figures of README.md and docs/guide that rest on them.",
      ),
      unfinished: toggle(
        "--unfinished",
        "List the runs of this folder that were stopped, with the command that goes on with each.",
      ),
      paths: paths(
        "PATH",
        "Files of suites or kernels; with --stale CSVs, folders or globs (default: results).",
      ),
      json: toggle("--json", "Print the listing as JSON."),
    }),
  );
}

/** Whether `path` is a file of a suite or of kernels, as `bench` takes it. */
function isSuiteFile(path: string): boolean {
  return /\.[jt]s$/.test(path) || isSource(path);
}

async function list(options: ListOptions): Promise<number> {
  if (options.unfinished) {
    refuseBeside("--unfinished", options, {
      "--suite": options.suites.length > 0,
      "--kernel": options.kernels.length > 0,
      "--stale": options.stale,
      "a path": options.paths.length > 0,
    });
    return listUnfinished(options.json);
  }
  if (options.stale) {
    refuseBeside("--stale", options);
    const { listStale } = await import("./list/stale.ts");
    return await listStale(options);
  }
  const rows = options.paths.find((path) => !isSuiteFile(path));
  if (rows !== undefined) {
    throw new UserError(
      `Cannot list ${rows}: paths of rows are for --stale; add it, or name a suite with --suite`,
    );
  }
  const names = [...options.suites, ...options.paths];
  await tryAll(names.filter((name) => isFile(name) && !isSource(name)));
  const { suites, filter } = await choose({ ...options, suites: names });
  const listed = suites.map((suite) => ({
    suite,
    cases: casesWithin([suite], filter),
  })).filter(({ cases }) => cases.length > 0);
  if (listed.length === 0) {
    throw nothing("no case has these kernels and values of axes");
  }
  if (options.json) printLine(JSON.stringify(jsonOf(listed, options), null, 2));
  else {
    for (const line of linesOf(listed, options)) printLine(line);
    if (!options.cases) {
      const apis = new Set(
        listed.flatMap(({ suite }) => kernelsOf(suite, options))
          .map(({ backend }) => backend),
      );
      const devices = EMULATED.filter((name) => apis.has(emulatedApi(name)));
      if (devices.length > 0) {
        logLine(`Without a GPU: check --device ${devices.join(", ")}`);
      }
    }
  }
  return EXIT.ok;
}

/** @throws {UserError} For options that select points, which rows and runs are not listed by. */
function refuseBeside(
  mode: string,
  options: ListOptions,
  more: Readonly<Record<string, boolean>> = {},
): void {
  const { overrides, where, quick, cases, peers } = options;
  const given = Object.entries({
    "--axis": Object.keys(overrides).length > 0,
    "--where": Object.keys(where).length > 0,
    "--quick": quick,
    "--cases": cases,
    "--peers": peers !== undefined,
    ...more,
  }).filter(([, isGiven]) => isGiven).map(([name]) => name);
  if (given.length === 0) return;
  throw new UserError(
    `${mode} does not take ${given.join(", ")}: leave ${
      given.length === 1 ? "it" : "them"
    } out`,
  );
}

/** Tries suite files, after which no program needs to be run. @throws {UserError} */
async function tryAll(files: readonly string[]): Promise<void> {
  if (files.length > 0) {
    const { trySuite } = await import("../../session/suite_trial.ts");
    await Promise.all(files.map((file) => trySuite(file)));
  }
  Deno.permissions.revokeSync({ name: "run" });
}

interface Listed {
  readonly suite: Suite;
  readonly cases: readonly Case[];
}

function jsonOf(listed: readonly Listed[], options: ListOptions): unknown {
  if (options.cases) return listed.flatMap(({ cases }) => cases.map(keyOf));
  return listed.map(({ suite, cases }) => ({
    name: suite.name,
    title: suite.title,
    op: suite.op,
    shapes: shapesOf(cases),
    cases: cases.length,
    baselines: suite.baselines,
    kernels: kernelsOf(suite, options),
  }));
}

function linesOf(listed: readonly Listed[], options: ListOptions): string[] {
  if (options.cases) {
    return listed.flatMap(({ cases }) =>
      cases.map((c) =>
        [c.suite, c.kernel, c.backend, c.problem.title].join("  ")
      )
    );
  }
  return listed.flatMap(({ suite, cases }) => {
    const kernels = kernelsOf(suite, options);
    return [
      `${suite.name}: ${suite.title} (${shapesOf(cases)} shapes)`,
      ...aligned(kernels.map((k) => [k.name, k.backend, k.idea]))
        .map((line) => `  ${line}`),
    ];
  });
}

function kernelsOf(suite: Suite, { kernels }: ListOptions): Suite["kernels"] {
  if (kernels.length === 0) return suite.kernels;
  return suite.kernels.filter(({ name }) => kernels.includes(name));
}

function shapesOf(cases: readonly Case[]): number {
  return new Set(cases.map(({ problem }) => problem)).size;
}

/**
 * Lists the unfinished runs of this folder, the oldest first, and says which cannot be read.
 *
 * @returns The exit code.
 * @throws {UserError} Where the folder of the runs cannot be read.
 */
function listUnfinished(json: boolean): ExitCode {
  let code: ExitCode = EXIT.ok;
  const refused = (line: string) => {
    logLine(line);
    code = EXIT.usage;
  };
  const runs = unfinishedRuns(RUNS, refused)
    .flatMap((run) => unlessRefused(() => listed(run), refused) ?? [])
    .toSorted((a, b) => a.started < b.started ? -1 : 1);
  if (json) {
    printLine(JSON.stringify(runs, null, 2));
    return code;
  }
  for (const { folder, rows, started, device, running, command } of runs) {
    const state = running ? "in progress" : "stopped";
    printLine(
      `${folder}  ${started}  ${device}  ${counted(rows, "row")}  ${state}`,
    );
    printLine(`  ${typed(command.map(quoted).join(" "))}`);
  }
  const left = runs.filter(({ running }) => !running);
  if (left.length > 0) {
    const { folder } = left[0]!;
    logLine(
      `The command below each continues it; to remove one: rm -r ${folder}`,
    );
  } else if (code === EXIT.ok) logLine(`No stopped run is in ${RUNS}`);
  return code;
}

/** What is said of `run`. @throws {UserError} Where it cannot be read. */
function listed(run: UnfinishedRun) {
  const { folder, info } = run;
  return {
    folder,
    rows: unfinishedLines(`${folder}/journal.jsonl`),
    started: info.started,
    device: info.device,
    running: isInProgress(run),
    // What is there would be discarded.
    command: info.command.filter((word) => word !== "--fresh"),
  };
}

const LF = 0x0a;
/** Bytes of the longest file whose lines are counted. */
const MOST_BYTES = 1 << 30;

/** Counts the whole lines of a file, which may be too long for a text; none where there is none. */
function unfinishedLines(file: string): number {
  const bytes = readBytesIfThere(file, MOST_BYTES);
  let lines = 0;
  for (let at = -1; (at = bytes?.indexOf(LF, at + 1) ?? -1) >= 0;) lines++;
  return lines;
}

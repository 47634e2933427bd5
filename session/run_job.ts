/**
 * Jobs for workers: how one is made of cases, and how it is run to its last case.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { adoptOrphans } from "../backends/cpu/process_state.ts";
import type { Backend } from "../bench/device/device.ts";
import type { Spent } from "../bench/measure/time_ledger.ts";
import { EXIT, type ExitCode } from "../bench/model/errors.ts";
import { PYTHON_LIBRARY } from "../bench/model/peer.ts";
import type { Selection, Settings } from "../bench/model/settings.ts";
import type { Case } from "../bench/model/suite.ts";
import {
  caseText,
  keyText,
  type Provenance,
  type Row,
} from "../bench/row/row.ts";
import { isLoss } from "../bench/tune/config_book.ts";
import type { CaseGroup, Event, Job } from "../bench/worker/protocol.ts";
import { lockDevice } from "../bench/worker/device_lock.ts";
import { supervise, type SuperviseOptions } from "../bench/worker/supervise.ts";
import { importFlags, PERMISSIONS, VERSION } from "./home.ts";
import { PhaseNote, titleOf } from "./phase_note.ts";
import type { Remaining } from "./remaining.ts";
import { backendNamed } from "./take_device.ts";
import { recordOf } from "../bench/row/csv.ts";
import type { CsvRow, KeptRow } from "../bench/row/csv_row.ts";
import { combine } from "../bench/row/results.ts";
import type { Evidence } from "../report/diff/interval.ts";

/** The parts of a job. */
interface JobParts extends
  Partial<
    Pick<Job, "skip" | "configs" | "calibration" | "machine" | "workers">
  > {
  readonly selection: Pick<
    Selection,
    "suites" | "backend" | "device" | "peers"
  >;
  readonly cases: readonly Case[];
  readonly settings: Settings;
  readonly run: string;
}

/** Makes the job of running `cases`, which have one runner, on the device of `selection`. */
export function jobOf(
  { selection, cases, settings, run, ...more }: JobParts,
): Job {
  const { suites, backend, device, peers } = selection;
  const { skip = [], configs = {}, calibration, machine, workers } = more;
  const { runner } = cases[0] ?? {};
  const { python = "" } = peers ?? {};
  return {
    suites,
    backend,
    device,
    settings,
    run,
    skip,
    configs,
    cases: groupsOf(cases),
    ...(peers && runner
      ? { peers: runner === "peers" ? peers : { python } }
      : {}),
    ...(calibration === undefined ? {} : { calibration }),
    ...(machine === undefined ? {} : { machine }),
    ...(workers === undefined ? {} : { workers }),
  };
}

/** Makes data of `cases`: those of one problem together, in the order of their first. */
function groupsOf(cases: readonly Case[]): readonly CaseGroup[] {
  return [...Map.groupBy(cases, ({ problem }) => problem).values()].map(
    (own) => {
      const { suite, place } = own[0]!;
      return { suite, place, kernels: own.map(({ kernel }) => kernel) };
    },
  );
}

/** Shows how far a job is. */
export interface ProgressView {
  update(
    change: {
      readonly note?: string;
      readonly done?: number;
      readonly failed?: number;
      /** Seconds until the end; undefined while too little is known. */
      readonly left?: number | undefined;
    },
  ): void;
  /** Shows a line that stays. */
  print(line: string): void;
  /** Shows that a case failed. @default {prints a line with the note of its row} */
  fail?(row: Row): void;
}

/** Options of running a job. */
export interface Watch {
  readonly progress: ProgressView;
  /** Estimates when the last of several jobs ends. @default {the view does} */
  readonly remaining?: Remaining;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** Steps done before this job. */
  readonly done: number;
  /** Cases that failed before this job. */
  readonly failed: number;
  /** Aborting it ends the worker and the job. */
  readonly signal: AbortSignal;
  /** Takes every event before it is shown. */
  take(event: Event): void;
}

/** The outcome of a job. */
export interface JobEnd {
  readonly done: number;
  readonly failed: number;
  /** Time spent by each worker, of one that was ended until its last row. */
  readonly spent: readonly Spent[];
  /** Bytes that a worker held at most; 0 where none had a row. */
  readonly memoryBytes: number;
}

/**
 * Runs a program and ends as it does, also by its signal: a parent that a kernel can kill.
 * Messages of the shell itself about signals are left out.
 */
const KEEPER = `exec 3>&2 4<&0 2>/dev/null
"$@" 2>&3 3>&- <&4 4<&- &
wait $!
code=$?
[ $code -gt 128 ] && kill -$((code - 128)) $$
exit $code`;

/** It is at this path wherever there is one, and need not be in PATH. */
const SHELL = Deno.build.os === "windows" ? "sh" : "/bin/sh";

/**
 * Starts a worker: this Deno, the same permissions, and nothing to be downloaded.
 *
 * @param backend The kernels of one that is shared run in the worker itself.
 */
function workerCommand(
  { shared }: Pick<Backend, "shared">,
): readonly [string, ...string[]] {
  const main = fileURLToPath(new URL("./worker.ts", import.meta.url));
  const flags = [
    ...["--quiet", "--no-prompt", "--cached-only", ...PERMISSIONS],
    ...importFlags(),
    // For the search for leaks, which counts the pages of JavaScript's heap too.
    "--v8-flags=--expose-gc",
  ];
  const program = [Deno.execPath(), "run", ...flags, main] as const;
  // On CPUs only: elsewhere the shell would end before the driver has freed the device of a killed
  // worker.
  return shared ? [SHELL, "-c", KEEPER, "sh", ...program] : program;
}

/**
 * True in the process of the `mnkbench` command. A program that uses the library may have children
 * of its own, which cannot be told from those that kernels left.
 */
const IS_PROGRAM =
  Deno.mainModule === new URL("../cli/main.ts", import.meta.url).href;

/** Runs `job`, hands every event on, and shows how far it is. */
export async function runJob(job: Job, watch: Watch): Promise<JobEnd> {
  let end: JobEnd = {
    done: watch.done,
    failed: watch.failed,
    spent: [],
    memoryBytes: 0,
  };
  let workers = 0;
  const spent = new Map<number, Spent>();
  if (IS_PROGRAM) adoptOrphans();
  const backend = await backendNamed(job.backend);
  const command = workerCommand(backend);
  using lock = await lockFor(job, backend, watch);
  if (lock === undefined) return end;
  const phase = new PhaseNote(job.settings);
  for await (
    const event of supervise(command, job, superviseOptions(job, watch))
  ) {
    watch.take(event);
    if (event.event === "row") {
      const failed = end.failed + (isFailure(event.row) ? 1 : 0);
      end = { ...end, done: end.done + 1, failed };
    } else if (event.event === "ready") {
      workers++;
    } else if (event.event === "costs" || event.event === "done") {
      spent.set(workers, event.spent);
      const memoryBytes = Math.max(end.memoryBytes, event.memoryBytes);
      end = { ...end, spent: [...spent.values()], memoryBytes };
    }
    watch.remaining?.take(event);
    const note = phase.take(event);
    if (note !== undefined) watch.progress.update({ note });
    show(event, end, watch);
  }
  return end;
}

/** Waits until no other run measures on the device of `job`; nothing where that was stopped. */
async function lockFor(
  { device, suites }: Pick<Job, "device" | "suites">,
  backend: Backend,
  { progress, signal }: Watch,
): Promise<Disposable | undefined> {
  // An emulated device is this process's own, and on a CPU tests and builds run too.
  if (typeof device === "string" || backend.shared) {
    return { [Symbol.dispose]() {} };
  }
  return await lockDevice(lockName(device, backend), {
    signal,
    what: suites.join(", "),
    note: (line) => progress.print(line),
  });
}

/** The name that locks the device of index `device`: the same in every process of this host. */
export function lockName(
  device: number,
  backend: Pick<Backend, "name" | "find">,
): string {
  const info = backend.find().devices.find(({ index }) => index === device);
  return info?.uuid ?? `${backend.name}-${device}`;
}

/** The provenance of a row of `job` whose case cannot tell more. */
export function provenanceOf(
  { settings, peers }: Pick<Job, "settings" | "peers">,
): Provenance {
  const { seed, fill, timer, cache, warmup, rep } = settings;
  return {
    timer,
    cache,
    seed,
    fill,
    warmup_ms: warmup,
    rep_ms: rep,
    ...(peers
      ? { library: peers.set === undefined ? PYTHON_LIBRARY : "torch" }
      : {}),
    harness: VERSION,
  };
}

/** Makes the options by which workers of `job` are supervised. */
function superviseOptions(
  job: Job,
  { timeout, signal, progress }: Watch,
): SuperviseOptions {
  return {
    timeoutMs: timeout * 1000,
    provenance: provenanceOf(job),
    signal,
    endsOrphans: IS_PROGRAM,
    printed: (text) => {
      if (text.trim() !== "") progress.print(text.trimEnd());
    },
  };
}

/** Shows what `event` says; the job is as far as `end`. */
function show(
  event: Event,
  { done, failed }: JobEnd,
  { progress, remaining }: Watch,
): void {
  switch (event.event) {
    case "notice":
      return progress.print(event.text);
    case "config":
      return isLoss(event) ? progress.print(lossLine(event)) : undefined;
    case "row":
      if (isFailure(event.row)) {
        if (progress.fail) progress.fail(event.row);
        else progress.print(failureLine(event.row));
      }
      return progress.update({
        done,
        failed,
        ...(remaining && { left: remaining.seconds }),
      });
  }
}

/** Tells whether `row` makes a run fail. A case that is unsupported does not. */
export function isFailure({ status }: { readonly status: string }): boolean {
  return !["ok", "checked", "unsupported"].includes(status);
}

/** The exit code of a run with these rows. */
export function exitCodeOf(rows: readonly Row[]): ExitCode {
  return rows.some(isFailure) ? EXIT.failed : EXIT.ok;
}

/** A config that ended its worker, for people. */
function lossLine(
  { key, config, status, note }: Extract<Event, { event: "config" }>,
): string {
  return `LOST ${
    titleOf(key)
  } at ${config}: ${status}, ${note}; its search goes on without it`;
}

/** A failed row for people. */
export function failureLine({ key, status, note }: Row): string {
  return `FAIL ${titleOf(key)}: ${status}${note ? `, ${note}` : ""}`;
}

/** The rows of cases that were measured one or more times. */
export class Measured {
  readonly #rows = new Map<string, KeptRow[]>();
  readonly #samples = new Map<string, (readonly number[])[]>();

  /** The winning configs so far, by key text. */
  get winners(): Record<string, string> {
    const timed = [...this.#rows].flatMap(([key, rows]) => {
      const row = rows.find(({ status }) => status === "ok");
      return row === undefined ? [] : [[key, row.config] as const];
    });
    return Object.fromEntries(timed);
  }

  /** The measurement of each case, by the text of its row's key: one row, and all samples. */
  get evidence(): ReadonlyMap<string, Evidence> {
    const all = [...this.#rows].map(([key, rows]) => {
      const row: CsvRow = recordOf(combine(rows));
      const repeats = this.#samples.get(key) ?? [];
      return [keyText(row), { row, repeats }] as const;
    });
    return new Map(all);
  }

  /** Measures the cases of `job` once more, in a worker of its own. */
  async measure(
    job: Job,
    { progress, timeout, signal, done }: {
      readonly progress: ProgressView;
      readonly timeout: number;
      readonly signal: AbortSignal;
      readonly done: number;
    },
  ): Promise<number> {
    const end = await runJob(job, {
      progress,
      timeout,
      signal,
      done,
      failed: 0,
      take: (event) => {
        if (event.event !== "row" || event.row.status === "checked") return;
        const key = caseText(event.row.key);
        append(this.#rows, key, event.row);
        if (event.samples) append(this.#samples, key, event.samples);
      },
    });
    return end.done;
  }
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}

/**
 * Makes jobs for workers of cases, and runs them.
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
import type { SuperviseOptions } from "../bench/worker/attend.ts";
import { supervise } from "../bench/worker/supervise.ts";
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

/** Makes the job that runs `cases`, all of one runner, on the device of `selection`. */
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

/** Groups `cases` by problem, as data for a worker. */
function groupsOf(cases: readonly Case[]): readonly CaseGroup[] {
  return [...Map.groupBy(cases, ({ problem }) => problem).values()].map(
    (own) => {
      const { suite, place } = own[0]!;
      return { suite, place, kernels: own.map(({ kernel }) => kernel) };
    },
  );
}

/** Shows the progress of a job. */
export interface ProgressView {
  update(
    change: {
      readonly note?: string;
      readonly done?: number;
      readonly failed?: number;
      /** Estimated seconds until the end; undefined while there is no estimate. */
      readonly left?: number | undefined;
    },
  ): void;
  /** Shows a line above the progress. */
  print(line: string): void;
  /** Shows a failed case. @default {prints a line with the note of its row} */
  fail?(row: Row): void;
}

/** Options of running a job. */
export interface Watch {
  readonly progress: ProgressView;
  /** Estimates the end of the last of several jobs. @default {the view does} */
  readonly remaining?: Remaining;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** Steps done before this job. */
  readonly done: number;
  /** Cases that failed before this job. */
  readonly failed: number;
  /** Aborting it ends the worker and the job. */
  readonly signal: AbortSignal;
  /** Receives every event before it is shown. */
  take(event: Event): void;
}

/** The outcome of a job. */
export interface JobEnd {
  readonly done: number;
  readonly failed: number;
  /** Time spent by each worker; for a killed worker, until its last row. */
  readonly spent: readonly Spent[];
  /** The greatest memory of a worker in bytes; 0 if none had a row. */
  readonly memoryBytes: number;
}

/**
 * A shell script that runs a program and ends with its exit code or signal. A kernel that kills its
 * parent process kills this shell. The shell's own messages about signals are suppressed.
 */
const PARENT_SCRIPT = `exec 3>&2 4<&0 2>/dev/null
"$@" 2>&3 3>&- <&4 4<&- &
wait $!
code=$?
[ $code -gt 128 ] && kill -$((code - 128)) $$
exit $code`;

/** The path of a POSIX shell, which need not be in PATH. */
const SHELL = Deno.build.os === "windows" ? "sh" : "/bin/sh";

/**
 * Returns the command that starts a worker: this Deno with the same permissions and no downloads.
 *
 * @param backend If it is shared, its kernels run in the process of the worker.
 */
function workerCommand(
  { shared }: Pick<Backend, "shared">,
): readonly [string, ...string[]] {
  const main = fileURLToPath(new URL("./worker.ts", import.meta.url));
  const flags = [
    ...["--quiet", "--no-prompt", "--cached-only", ...PERMISSIONS],
    ...importFlags(),
    // The check for leaks collects garbage first.
    "--v8-flags=--expose-gc",
  ];
  const program = [Deno.execPath(), "run", ...flags, main] as const;
  // On CPUs only: with a GPU, the shell could end before the driver has released the device of a
  // killed worker.
  return shared ? [SHELL, "-c", PARENT_SCRIPT, "sh", ...program] : program;
}

/**
 * True in the process of the `mnkbench` command. A program that uses the library may have child
 * processes, which cannot be distinguished from those that kernels left behind.
 */
const IS_PROGRAM =
  Deno.mainModule === new URL("../cli/main.ts", import.meta.url).href;

/** Runs `job`, passes every event to `watch`, and shows the progress. */
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

/** Locks the device of `job` for this run; returns undefined if the wait was aborted. */
async function lockFor(
  { device, suites }: Pick<Job, "device" | "suites">,
  backend: Backend,
  { progress, signal }: Watch,
): Promise<Disposable | undefined> {
  // No lock for emulated devices, which belong to this process, nor for CPUs, which always run others.
  if (typeof device === "string" || backend.shared) {
    return { [Symbol.dispose]() {} };
  }
  return await lockDevice(lockName(device, backend), {
    signal,
    what: suites.join(", "),
    note: (line) => progress.print(line),
  });
}

/** Returns the name of the lock of a device: the same in every process of this host. */
export function lockName(
  device: number,
  backend: Pick<Backend, "name" | "find">,
): string {
  const info = backend.find().devices.find(({ index }) => index === device);
  return info?.uuid ?? `${backend.name}-${device}`;
}

/** Returns the provenance of a row of `job` for a case that did not run to its end. */
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

/** Returns the options for supervising the workers of `job`. */
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

/** Shows `event` and the progress `end` of the job. */
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

/** Returns whether a row makes the run fail. An unsupported case does not. */
export function isFailure({ status }: { readonly status: string }): boolean {
  return !["ok", "checked", "unsupported"].includes(status);
}

/** Returns the exit code of a run with these rows. */
export function exitCodeOf(rows: readonly Row[]): ExitCode {
  return rows.some(isFailure) ? EXIT.failed : EXIT.ok;
}

/** Formats a config that ended its worker. */
function lossLine(
  { key, config, status, note }: Extract<Event, { event: "config" }>,
): string {
  return `LOST ${
    titleOf(key)
  } at ${config}: ${status}, ${note}; its search goes on without it`;
}

/** Formats a failed row. */
export function failureLine({ key, status, note }: Row): string {
  return `FAIL ${titleOf(key)}: ${status}${note ? `, ${note}` : ""}`;
}

/** Collects the rows of cases that are measured one or more times. */
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

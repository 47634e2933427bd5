/**
 * A job from its first worker to its last case, with progress on the way.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { EXIT, type ExitCode } from "../bench/model/errors.ts";
import type { Event, Job } from "../bench/worker/protocol.ts";
import type { Spent } from "../bench/measure/time_ledger.ts";
import { isLoss } from "../bench/tune/crashed_configs.ts";
import type { Key, Row } from "../bench/row/row.ts";
import { supervise } from "../bench/worker/supervise.ts";
import { VERSION } from "./home.ts";
import { PERMISSIONS } from "./permissions.ts";

/** Shows how far a job is. */
export interface ProgressView {
  update(
    change: {
      readonly note?: string;
      readonly done?: number;
      readonly failed?: number;
    },
  ): void;
  /** Shows a line that stays. */
  print(line: string): void;
}

/** How a session is watched over. */
export interface SessionOptions {
  readonly progress: ProgressView;
  /** Seconds of silence after which a case is given up. */
  readonly timeout: number;
  /** Steps done before this job. */
  readonly done: number;
  /** Cases that failed before this job. */
  readonly failed: number;
  /** Aborting it ends the worker and the session. */
  readonly signal: AbortSignal;
  /** Takes every event before it is shown. */
  take(event: Event): void;
}

/** What came of a session. */
export interface SessionEnd {
  readonly done: number;
  readonly failed: number;
  /** Of the last worker; nothing where it was stopped. */
  readonly spent: Spent | undefined;
  /** Bytes that the worker held at most; 0 where none came to its end. */
  readonly memoryBytes: number;
}

/** How a worker is started: this Deno, the same permissions. */
export function workerCommand(): readonly [string, ...string[]] {
  const main = fileURLToPath(new URL("./worker_main.ts", import.meta.url));
  return [
    Deno.execPath(),
    "run",
    "--quiet",
    "--no-prompt",
    ...PERMISSIONS,
    main,
  ];
}

/** Runs `job`, hands every event on, and shows how far it is. */
export async function runJob(
  job: Job,
  options: SessionOptions,
): Promise<SessionEnd> {
  const { progress, signal } = options;
  let { done, failed } = options;
  let spent: Spent | undefined;
  let memoryBytes = 0;
  const { seed, fill, timer, cache, warmup, rep } = job.settings;
  const events = supervise(workerCommand(), job, {
    timeoutMs: options.timeout * 1000,
    provenance: {
      timer,
      cache,
      seed,
      fill,
      warmup_ms: warmup,
      rep_ms: rep,
      harness: VERSION,
    },
    signal,
    printed: (text) => {
      if (text.trim() !== "") progress.print(text.trimEnd());
    },
  });
  for await (const event of events) {
    options.take(event);
    switch (event.event) {
      case "build":
        progress.update({ note: `building ${event.done}/${event.total}` });
        break;
      case "case":
        progress.update({ note: titleOf(event.key) });
        break;
      case "notice":
        progress.print(event.text);
        break;
      case "config":
        if (isLoss(event)) progress.print(lossLine(event));
        break;
      case "row": {
        done++;
        if (isFailure(event.row)) {
          failed++;
          progress.print(failureLine(event.row));
        }
        progress.update({ done, failed });
        break;
      }
      case "done":
        ({ spent, memoryBytes } = event);
    }
  }
  return { done, failed, spent, memoryBytes };
}

/** Whether `row` makes a run fail. What cannot run here, and says why, does not. */
export function isFailure({ status }: Row): boolean {
  return !["ok", "checked", "unsupported"].includes(status);
}

/** The exit code of a run with these rows. */
export function exitCodeOf(rows: readonly Row[]): ExitCode {
  return rows.some(isFailure) ? EXIT.failed : EXIT.ok;
}

/** A case for people. */
export function titleOf(
  { suite, kernel, m, n, k, layout, params }: Key,
): string {
  return [suite, kernel, `${m}×${n}×${k}`, layout, params]
    .filter((part) => part !== "").join(" ");
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

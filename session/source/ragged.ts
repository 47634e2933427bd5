/**
 * Checks the kernel of a source file at one shape whose M, N and K differ. The sizes that its suite
 * has by default are square, where a kernel that takes one for another, as in `A[i * M + k]`, is
 * right.
 *
 * @module
 */

import type { Selection, Settings } from "../../bench/model/settings.ts";
import type { Case, Overrides, Suite } from "../../bench/model/suite.ts";
import {
  caseText,
  type FailedRow,
  keyOf,
  type Row,
} from "../../bench/row/row.ts";
import { isSource } from "../cases.ts";
import { isOwnKernel } from "../own_kernels.ts";
import { jobOf, type ProgressView, runJob } from "../run_job.ts";
import type { Selected } from "../select.ts";

/** Multiples of the smallest size that a suite has, as a kernel may take no others. */
const MULTIPLES = { m: 1, n: 2, k: 3 };
const SIZES = ["m", "n", "k"] as const;

/** Begins the note of a row that failed at the other shape, of which it has the sizes. */
export const AT_OTHER = /^at (\d+)×(\d+)×(\d+), where M, N and K differ/;

/** How a check is run. */
interface Checking {
  readonly settings: Settings;
  readonly progress: ProgressView;
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Names the run in its rows. */
  readonly run: string;
}

/**
 * Checks the kernels of source files among `cases`, unless the user chose sizes. Returns the rows of
 * those of their cases that fail for it: what is wrong at one shape is not timed at others.
 */
export async function failedElsewhere(
  selected: Selected,
  cases: readonly Case[],
  { settings, run, progress, timeout, signal }: Checking,
): Promise<readonly FailedRow[]> {
  const { selection, suites } = selected;
  const { overrides, where } = selection;
  if (
    settings.once || SIZES.some((name) => name in { ...overrides, ...where })
  ) {
    return [];
  }
  const others = suites.flatMap((suite, i) =>
    isSource(selection.suites[i] ?? "")
      ? otherCases(suite, cases, selection)
      : []
  );
  const failed: FailedRow[] = [];
  // Not several in one job: a job has one runner.
  for (const other of others) {
    const job = jobOf({
      selection,
      cases: [other],
      run,
      settings: { ...settings, checkOnly: true },
    });
    await runJob(job, {
      progress: { update() {}, print: (line) => progress.print(line) },
      timeout,
      signal,
      done: 0,
      failed: 0,
      take(event) {
        if (event.event !== "row") return;
        const { row } = event;
        if (!isFaulty(row)) return;
        const { accuracy: _, ...rest } = row;
        const { m, n, k } = row.key;
        const note = `at ${m}×${n}×${k}, where M, N and K differ${
          row.note === "" ? "" : `: ${row.note}`
        }`;
        const own = cases.filter((c) => unsized(c) === unsized(other));
        failed.push(...own.map((c) => ({ ...rest, key: keyOf(c), note })));
      },
    });
  }
  return failed;
}

/** Returns whether a kernel ran and failed: what kept it from running, each of its own shapes tells. */
function isFaulty(row: Row): row is FailedRow {
  return ["wrong", "crash", "timeout", "launch"].includes(row.status);
}

/** Returns the cases of another shape of the own kernel of `suite`, if it is among `cases`. */
function otherCases(
  suite: Suite,
  cases: readonly Case[],
  { overrides, where }: Selection,
): readonly Case[] {
  const first = cases.find((c) => c.suite === suite.name && isOwnKernel(c));
  if (first === undefined) return [];
  const ofKernel = (more: Overrides) =>
    [...suite.cases("all", { ...overrides, ...more }, where)].filter((c) =>
      c.kernel === first.kernel && c.backend === first.backend
    );
  // Of the suite, as a shard need not have the smallest.
  const least = Math.min(...ofKernel({}).map((c) => c.problem.key.m));
  return ofKernel(Object.fromEntries(
    SIZES.map((name) => [name, [MULTIPLES[name] * least]]),
  ));
}

/** Returns the key of a case without its sizes, as text. */
function unsized(c: Case): string {
  return caseText({ ...keyOf(c), m: "", n: "", k: "" });
}

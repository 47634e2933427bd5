/**
 * Checks cases without timing them, at edge-case shapes too; keeps nothing.
 *
 * @module
 */

import type { Settings } from "../../bench/model/settings.ts";
import type { Suite } from "../../bench/model/suite.ts";
import type { Row } from "../../bench/row/row.ts";
import { suiteNames } from "../../suites/mod.ts";
import { isFile, isSource } from "../cases.ts";
import type { SweepObserver } from "../findings.ts";
import { isFailure, jobOf, runJob } from "../run_job.ts";
import { select, type Selected, type Selecting } from "../select.ts";

/** How cases are checked. */
export interface CheckOptions {
  /** Their `checkOnly` is true. */
  readonly settings: Settings;
  /** Kill a case after this many seconds without progress. */
  readonly timeout: number;
  /** Aborting it ends the worker. */
  readonly signal: AbortSignal;
  readonly observer: SweepObserver;
}

/** The outcome of a check. */
export interface Checked {
  /** One for each case; of one that was stopped, those that it came to. */
  readonly rows: readonly Row[];
  /** The cases of the selection itself. */
  readonly own: Selected;
}

/**
 * Checks the cases of a selection: those of given sizes, else its own and edge-case shapes of each
 * operation; on an emulated device edge-case shapes alone, except of a user's suite.
 *
 * @throws {UserError} For unknown names, no usable device, no case, and a worker that cannot run.
 */
export async function checkCases(
  selecting: Selecting,
  { settings, timeout, signal, observer }: CheckOptions,
): Promise<Checked> {
  const own = await select({ ...selecting, unnamed: suiteNames, orNone: true });
  for (const note of own.notes) observer.note(note);
  const sized = Object.keys(selecting.overrides).length > 0;
  if (sized) {
    observer.note(
      "Only the given sizes; without --axis, --m, --n and --k edge-case shapes are checked too",
    );
  }
  // Its own points would take an emulator days.
  const brief = typeof selecting.device === "string" && !sized &&
    !selecting.quick &&
    !own.selection.suites.some((n) => isFile(n) && !isSource(n));
  if (brief) {
    observer.note("Edge-case shapes only: --m, --n and --k give others");
  }
  const passes = sized
    ? [own]
    : [...await edgeCasesOf(selecting, own), ...(brief ? [] : [own])];
  const rows: Row[] = [];
  const total = passes.reduce((sum, { cases }) => sum + cases.length, 0);
  using progress = observer.progress(total, 0);
  const parts = passes.flatMap((pass) =>
    [...Map.groupBy(pass.cases, ({ runner }) => runner).values()]
      .map((cases) => ({ ...pass, cases }))
  );
  for (const part of parts) {
    if (signal.aborted) break;
    await runJob(jobOf({ ...part, settings, run: "check" }), {
      progress,
      timeout,
      signal,
      done: rows.length,
      failed: rows.filter(isFailure).length,
      take(event) {
        if (event.event !== "row") return;
        rows.push(event.row);
        observer.row(event.row);
      },
    });
  }
  return { rows, own };
}

/**
 * The edge-case shapes of each operation, with each kernel once, whatever suites share them; of a
 * user's suite, whose kernels may be made for its types alone, only the edge-case sizes.
 */
async function edgeCasesOf(
  options: Selecting,
  { suites, selection }: Selected,
): Promise<readonly Selected[]> {
  const seen = new Set<string>();
  const names = selection.suites.filter((name, i) =>
    !isFile(name) && adds(suites[i]!, seen)
  );
  const files = selection.suites.filter(isFile);
  const passes = [[names, "edge"], [files, "edge-own"]] as const;
  return await Promise.all(
    passes.filter(([list]) => list.length > 0)
      .map(([list, set]) =>
        select({ ...options, suites: list, orNone: true }, set)
      ),
  );
}

/** Adds the kernels of `suite` to `seen`. @returns Whether one of them was not there. */
function adds({ op, kernels }: Suite, seen: Set<string>): boolean {
  const fresh = kernels.map(({ name, backend }) => `${op} ${name} ${backend}`)
    .filter((kernel) => !seen.has(kernel));
  for (const kernel of fresh) seen.add(kernel);
  return fresh.length > 0;
}

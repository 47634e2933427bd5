/**
 * Jobs of workers, and the cases that a worker makes of its job again.
 *
 * @module
 */

import { keyOf, keyText } from "../bench/row/row.ts";
import { UserError } from "../bench/model/errors.ts";
import type { Selection, Settings } from "../bench/model/settings.ts";
import type { Case, Suite } from "../bench/model/suite.ts";
import type { CaseGroup, Job } from "../bench/worker/protocol.ts";

/** What {@linkcode jobOf} makes a job of. */
export interface JobParts
  extends Partial<Pick<Job, "skip" | "configs" | "python" | "calibration">> {
  readonly selection: Pick<Selection, "suites" | "backend" | "device">;
  readonly cases: readonly Case[];
  readonly settings: Settings;
  readonly run: string;
}

/** The job of running `cases` on the device of `selection`. */
export function jobOf(
  { selection, cases, settings, run, ...more }: JobParts,
): Job {
  const { suites, backend, device } = selection;
  const { skip = [], configs = {}, python, calibration } = more;
  return {
    ...{ suites, backend, device, settings, run, skip, configs },
    cases: groupsOf(cases),
    ...(python === undefined ? {} : { python }),
    ...(calibration === undefined ? {} : { calibration }),
  };
}

/** `cases` as data: those of one problem together, in the order of their first. */
function groupsOf(cases: readonly Case[]): readonly CaseGroup[] {
  return [...Map.groupBy(cases, ({ problem }) => problem).values()].map(
    (own) => {
      const { suite, place } = own[0]!;
      return { suite, place, kernels: own.map(({ kernel }) => kernel) };
    },
  );
}

/**
 * The cases of `job` that have no row yet.
 *
 * @param at The cases of a suite at a point, of all kernels.
 */
export function casesOfJob(
  { cases, skip }: Pick<Job, "cases" | "skip">,
  at: (group: CaseGroup) => Iterable<Case>,
): readonly Case[] {
  const done = new Set(skip);
  return cases.flatMap((group) => {
    const wanted = new Set(group.kernels);
    return [...at(group)].filter((c) =>
      wanted.has(c.kernel) && !done.has(keyText(keyOf(c)))
    );
  });
}

/**
 * The suite of `suites` that `group` is of.
 *
 * @throws {UserError} Where a suite file has another name now than when it was selected.
 */
export function suiteOf(
  { suite }: CaseGroup,
  suites: readonly Suite[],
): Suite {
  const found = suites.find(({ name }) => name === suite);
  if (found) return found;
  throw new UserError(
    `Cannot find the suite ${suite} again: a suite file has another name each time it is loaded; give it a fixed one`,
  );
}

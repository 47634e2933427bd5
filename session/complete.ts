/**
 * Tells whether a run has every row that it was asked for.
 *
 * @module
 */

import { EXIT, UserError } from "../bench/model/errors.ts";
import type { Journal } from "../bench/worker/journal.ts";
import { keyOf, keyText } from "../bench/row/row.ts";
import type { Case } from "../bench/model/suite.ts";

/** Those of `cases` that have no row in a repeat. */
export function missingCases(
  journal: Pick<Journal, "done">,
  cases: readonly Case[],
  repeat: number,
): Case[] {
  const done = journal.done(repeat);
  return cases.filter((c) => !done.has(keyText(keyOf(c))));
}

/**
 * Refuses a run that lacks rows, as one that is published counts as whole.
 *
 * @throws {UserError} Where a case of a repeat has no row.
 */
export function demandComplete(
  journal: Pick<Journal, "done">,
  cases: readonly Case[],
  runs: number,
): void {
  let missing = 0;
  for (let repeat = 0; repeat < runs; repeat++) {
    missing += missingCases(journal, cases, repeat).length;
  }
  if (missing === 0) return;
  throw new UserError(
    `Cannot write the results: ${missing} of ${
      runs * cases.length
    } rows are missing, as the worker ended without them; what was measured is kept: the same command goes on`,
    EXIT.failed,
  );
}

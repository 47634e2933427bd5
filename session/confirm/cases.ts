/**
 * The cases that are to be measured again, among those that these sources have.
 *
 * @module
 */

import { EXIT, UserError } from "../../bench/model/errors.ts";
import { keyOf, keyText } from "../../bench/row/row.ts";
import type { Case, Suite } from "../../bench/model/suite.ts";
import { titleOf } from "../../report/diff/diff.ts";
import type { SourcedRow } from "../read_rows.ts";
import { casesOf, type Filter, pointOf } from "../select.ts";

/** A pair that is measured again. */
export interface Doubt {
  readonly base: SourcedRow;
  readonly next: SourcedRow;
}

/** That rows cannot be measured again, and why. */
export function cannot(why: string): UserError {
  return new UserError(`Cannot confirm: ${why}`, EXIT.nothing);
}

/** The case of each row of `doubts`, by key text. @throws {UserError} Where one has none. */
export function casesOfRows(
  doubts: readonly Doubt[],
  { suites, backend }: {
    readonly suites: readonly Suite[];
    readonly backend: string;
  },
): ReadonlyMap<string, Case> {
  const rows = new Map(doubts.map(({ next }) => [keyText(next.row), next.row]));
  const found = new Map<string, Case>();
  const take = (suite: Suite, filter: Partial<Filter> = {}) => {
    const usual = {
      kernels: [],
      overrides: {},
      points: "all",
      backend,
    } as const;
    for (const one of casesOf([suite], { ...usual, ...filter })) {
      const key = keyText(keyOf(one));
      if (rows.has(key)) found.set(key, one);
    }
  };
  for (const suite of suites) {
    take(suite);
    for (const [key, row] of rows) {
      if (found.has(key) || row.suite !== suite.name) continue;
      take(suite, { kernels: [row.kernel], ...pointOf(suite, row) });
    }
    if (found.size < rows.size) take(suite, { points: "quick" });
  }
  for (const [key, row] of rows) {
    if (found.has(key)) continue;
    throw cannot(
      `these sources no longer have the case ${
        titleOf(row)
      }; name a suite of your own with --suite`,
    );
  }
  return found;
}

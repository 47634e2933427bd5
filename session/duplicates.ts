/**
 * What is there twice.
 *
 * @module
 */

import type { CsvRow } from "../bench/row/csv_row.ts";
import { isPublished } from "../report/import/published.ts";
import { identityOf } from "../report/diff/join.ts";

/** The case of a row; each published run has cases of its own. */
export function caseOfRun(row: CsvRow): string {
  return `${identityOf(row)}${isPublished(row) ? row.run : ""}`;
}

/** The first of `all` whose `identity` one before it has, and that one; nothing where all differ. */
export function twice<T>(
  all: Iterable<T>,
  identity: (one: T) => string,
): readonly [one: T, before: T] | undefined {
  const seen = new Map<string, T>();
  for (const one of all) {
    const own = identity(one);
    const before = seen.get(own);
    if (before !== undefined) return [one, before];
    seen.set(own, one);
  }
  return undefined;
}

/**
 * The one record that running writes and reporting reads.
 *
 * @module
 */

import type { Case } from "../model/suite.ts";
import { KEY_COLUMNS } from "./columns.ts";
import type { Key } from "./row_schema.ts";

export * from "./columns.ts";
export type {
  Accuracy,
  CheckedRow,
  FailedRow,
  Figures,
  Key,
  Place,
  Provenance,
  Row,
  RowBase,
  TimedRow,
} from "./row_schema.ts";

/** The key of a case. */
export function keyOf({ suite, kernel, backend, problem }: Case): Key {
  const { m, n, k, ...rest } = problem.key;
  return {
    suite,
    op: problem.op,
    kernel,
    backend,
    ...rest,
    m: `${m}`,
    n: `${n}`,
    k: `${k}`,
  };
}

/** A key as one string: equal for equal keys, and only for them. */
export function keyText(key: Key): string {
  return JSON.stringify(KEY_COLUMNS.map((column) => key[column]));
}

/**
 * Rows as lines of JSON: the columns of the CSV, with numbers as numbers.
 *
 * @module
 */

import type { Row } from "../../bench/row/row.ts";

/** `row` as one line: every column that it has, by the names of the CSV. */
export function jsonRow(row: Row): string {
  const { key, place, provenance, ...outcome } = row;
  const { figures, accuracy, ...plain } = {
    figures: {},
    accuracy: {},
    ...outcome,
  };
  const sizes = { m: Number(key.m), n: Number(key.n), k: Number(key.k) };
  return JSON.stringify({
    ...key,
    ...sizes,
    ...place,
    ...plain,
    ...figures,
    ...accuracy,
    ...provenance,
  });
}

/**
 * Minimal detectable effects: below which difference two runs of the same build cannot be
 * told from two builds.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { UserError } from "../../bench/model/errors.ts";
import { KEY_COLUMNS, SCHEMA } from "../../bench/row/row.ts";
import { spread } from "../../bench/measure/stats.ts";

/** A row's effect. */
export interface Effect {
  /** The values of {@linkcode KEY_COLUMNS}. */
  readonly key: readonly string[];
  /** Relative: 0.02 is 2 %. */
  readonly mde: number;
}

/** The effects of the rows of one CSV, as they stand in a file beside it. */
export interface Effects {
  readonly device: string;
  /** Runs of the same build that they come from. */
  readonly runs: number;
  readonly rows: readonly Effect[];
}

/** Runs below which their spread is hardly known. */
export const LEAST_RUNS = 3;

/**
 * The minimal detectable effect of a case from its medians in several runs of the same
 * build: 1.96·√2 (about 2.8) standard deviations of their logarithms, which two runs
 * exceed in one of twenty comparisons where the medians are log-normal. The deviation is
 * corrected for the few runs that it comes from.
 *
 * @param medians At least {@linkcode LEAST_RUNS}, above 0.
 *
 * @example
 * ```ts
 * import { effectOf } from "./mde.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(effectOf([10, 10.1, 9.9, 10]).toFixed(4), "0.0244");
 * ```
 */
export function effectOf(medians: readonly number[]): number {
  const n = medians.length;
  const deviation = spread(medians.map(Math.log))!;
  // The mean of a sample deviation is (1 - 1/(4n)) of the true one, nearly (c4(n)).
  const unbiased = deviation / (1 - 1 / (4 * n));
  return Math.expm1(1.96 * Math.SQRT2 * unbiased);
}

/** `row`'s key as it stands in {@linkcode Effect}. */
export function keyFields(row: CsvRow): readonly string[] {
  return KEY_COLUMNS.map((column) => row[column]);
}

/** `effects` as the text of a file, one line a row. */
export function formatEffects({ rows, ...rest }: Effects): string {
  const head = JSON.stringify({
    schema: SCHEMA,
    ...rest,
    columns: KEY_COLUMNS,
  });
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(",\n");
  return `${head.slice(0, -1)},"rows":[\n${lines}\n]}\n`;
}

/**
 * The effects in the text of a file.
 *
 * @param file Named in errors.
 * @throws {UserError} For text of anything else.
 */
export function parseEffects(text: string, file: string): Effects {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw refusal(file, `it is not JSON (${(cause as Error).message})`);
  }
  if (isEffects(content)) return content;
  throw refusal(file, "it has other content");
}

function refusal(file: string, why: string): UserError {
  return new UserError(
    `Cannot read ${file}: ${why}; make it again with \`compare --calibrate\`, or remove it`,
  );
}

function isEffects(value: unknown): value is Effects {
  if (typeof value !== "object" || value === null) return false;
  if (!("schema" in value) || value.schema !== SCHEMA) return false;
  return "rows" in value && Array.isArray(value.rows) &&
    value.rows.every((row) =>
      Array.isArray(row?.key) && row.key.length === KEY_COLUMNS.length &&
      typeof row.mde === "number" && row.mde >= 0
    );
}

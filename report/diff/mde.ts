/**
 * Computes and stores minimal detectable effects: the difference below which two runs of the
 * same build cannot be told from two builds.
 *
 * @module
 */

import {
  array,
  check,
  exactOptional,
  finite,
  type InferOutput,
  integer,
  length,
  literal,
  minValue,
  number,
  pipe,
  strictObject,
  strictTuple,
  string,
} from "valibot";
import {
  isSealedOrOld,
  parseJson,
  seal,
  UNSEALED,
} from "../../bench/files/json_file.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { UserError } from "../../bench/model/errors.ts";
import { KEY_COLUMNS, SCHEMA } from "../../bench/row/row.ts";
import { spread } from "../../bench/measure/stats.ts";

/** Runs below which their spread is hardly known. */
export const LEAST_RUNS = 3;

const EFFECTS = pipe(
  strictObject({
    schema: literal(SCHEMA),
    device: string(),
    /** Runs of the same build that the effects come from, the least of any row. */
    runs: pipe(number(), integer(), minValue(LEAST_RUNS)),
    columns: strictTuple(KEY_COLUMNS.map((column) => literal(column))),
    rows: array(strictObject({
      /** The values of {@linkcode KEY_COLUMNS}. */
      key: pipe(array(string()), length(KEY_COLUMNS.length)),
      /** Relative: 0.02 is 2 %. */
      mde: pipe(number(), finite(), minValue(0)),
    })),
    /** Missing in files of version 0.1. */
    sum: exactOptional(string()),
  }),
  check((content) => isSealedOrOld(content), UNSEALED),
);

/** The effects of the rows of one CSV, as they stand in a file beside it. */
export type Effects = Pick<
  InferOutput<typeof EFFECTS>,
  "device" | "runs" | "rows"
>;

/**
 * Returns the minimal detectable effect of a case from its medians in several runs of the same
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
  // The expected sample deviation is about (1 - 1/(4n)) of the true one (c4(n)).
  const unbiased = deviation / (1 - 1 / (4 * n));
  return Math.expm1(1.96 * Math.SQRT2 * unbiased);
}

/** Returns the values of a row's key, as they stand in {@linkcode Effects}. */
export function keyFields(row: CsvRow): string[] {
  return KEY_COLUMNS.map((column) => row[column]);
}

/** Returns the text of a file, one line for each row. */
export function formatEffects({ rows, ...rest }: Effects): string {
  const content = { schema: SCHEMA, ...rest, columns: KEY_COLUMNS };
  const { rows: _, ...first } = seal({ ...content, rows });
  const head = JSON.stringify(first);
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(",\n");
  return `${head.slice(0, -1)},"rows":[\n${lines}\n]}\n`;
}

/**
 * Reads the text of a file of effects.
 *
 * @param file Named in errors.
 * @throws {UserError} For text of anything else.
 */
export function parseEffects(text: string, file: string): Effects {
  return parseJson(EFFECTS, text, (why) =>
    new UserError(
      `Cannot read ${file}: ${why}; make it again with \`compare --calibrate\`, or remove it`,
    ));
}

/**
 * The schema of a row as workers send it and journals keep it.
 *
 * @module
 */

import { type InferOutput, is, object, pipe, readonly, string } from "valibot";
import { KEY_COLUMNS } from "./row.ts";

type KeyEntries = Record<typeof KEY_COLUMNS[number], typeof text>;

const text = string();

/** The schema of what a row is about. */
export const keySchema = pipe(
  object(
    Object.fromEntries(KEY_COLUMNS.map((c) => [c, text])) as KeyEntries,
  ),
  readonly(),
);

/** Whether `value` is a case's key. */
export function isKey(
  value: unknown,
): value is InferOutput<typeof keySchema> {
  return is(keySchema, value);
}

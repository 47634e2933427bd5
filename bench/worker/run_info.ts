/**
 * The schema of what was asked of a run, as its folder keeps it.
 *
 * @module
 */

import {
  array,
  looseObject,
  number,
  object,
  pipe,
  readonly,
  string,
} from "valibot";
import { parseJson } from "../files/json_file.ts";
import type { RunIdentity } from "./fingerprint.ts";
import { unreadable } from "../row/journal_row.ts";

/** The content of `run.json`. */
export interface RunInfo extends RunIdentity {
  /** The command line. */
  readonly command: readonly string[];
  /** When it was first given, ISO 8601. */
  readonly started: string;
}

// Selection and settings are compared with those of the command, and not read by field.
const runSchema = object({
  harness: string(),
  device: string(),
  arch: string(),
  started: string(),
  selection: looseObject({}),
  settings: looseObject({}),
  runs: number(),
  command: pipe(array(string()), readonly()),
});

/**
 * Parses the text of a `run.json`.
 *
 * @param file Named in errors.
 * @throws {UserError} With the field, where it is damaged.
 */
export function parseRunInfo(text: string, file: string): RunInfo {
  const info: unknown = parseJson(
    runSchema,
    text,
    (why) => unreadable(file, why),
  );
  return info as RunInfo;
}

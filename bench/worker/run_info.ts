/**
 * What was asked of a run, as its folder says it.
 *
 * @module
 */

import type { RunIdentity } from "./fingerprint.ts";
import { unreadable } from "../row/journal_row.ts";
import { hasTexts, isFields, parseJson } from "../files/json_shape.ts";

/** What `run.json` says. */
export interface RunInfo extends RunIdentity {
  /** The command line. */
  readonly command: readonly string[];
  /** When it was first given, ISO 8601. */
  readonly started: string;
}

/**
 * The run behind the text of a `run.json`.
 *
 * @param file Named in errors.
 * @throws {UserError} Where it is damaged.
 */
export function parseRunInfo(text: string, file: string): RunInfo {
  const value = parseJson(text);
  if (isRunInfo(value)) return value;
  throw unreadable(
    file,
    value === undefined ? "it is not JSON" : "it does not describe a run",
  );
}

function isRunInfo(value: unknown): value is RunInfo {
  return hasTexts(value, ["harness", "device", "arch", "started"]) &&
    isFields(value) && isFields(value.selection) && isFields(value.settings) &&
    typeof value.runs === "number" && Array.isArray(value.command);
}

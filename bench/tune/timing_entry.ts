/**
 * One thing that a timing cache remembers.
 *
 * @module
 */

import { MOST_LEVEL } from "./levels.ts";
import { hasTexts, isFields } from "../files/json_shape.ts";
import { TIMING_FIELDS, timingId, type TimingKey } from "./timing_key.ts";

/** The winner of a search. */
export interface TimingEntry {
  readonly key: TimingKey;
  /** The winning config, as `formatValues` writes it; empty for a kernel that has one. */
  readonly config: string;
  /** Its median in the finals. */
  readonly us: number;
  /** How far its output was from right. */
  readonly error: { readonly max_abs: number; readonly max_rel: number };
  /** How hard was searched, 1 to 5. */
  readonly level: number;
  /** When it was found, ISO 8601. */
  readonly date: string;
}

const NUMBERS = ["us", "level"];

/** Why `value` is no entry of the name `id`; nothing where it is one. */
export function entryFault(id: string, value: unknown): string | undefined {
  if (!isFields(value)) return `${id} is not an object`;
  const { key, error, us, level } = value;
  if (!hasTexts(key, TIMING_FIELDS)) return `${id} has no whole key`;
  if (!hasTexts(value, ["config", "date"])) {
    return `${id} has no config or no date`;
  }
  if (!NUMBERS.every((name) => Number.isFinite(value[name]))) {
    return `${id} has no time or no level`;
  }
  if (!(Number(us) > 0)) return `${id} has a time of ${us} us`;
  if (
    !Number.isInteger(level) || !(Number(level) >= 1) ||
    !(Number(level) <= MOST_LEVEL)
  ) {
    return `${id} has a level of ${level}`;
  }
  if (!isFields(error)) return `${id} does not say how right it was`;
  if (!["max_abs", "max_rel"].every((n) => typeof error[n] === "number")) {
    return `${id} does not say how right it was`;
  }
  return timingId(key as TimingKey) === id
    ? undefined
    : `${id} is not the name of its key`;
}

/** An entry as JSON can hold it: exact in its fields, in their order. */
export function plainEntry(entry: TimingEntry): TimingEntry {
  const { key, config, us, error, level, date } = entry;
  const fields = TIMING_FIELDS.map((field) => [field, key[field]]);
  return {
    key: Object.fromEntries(fields) as TimingKey,
    config,
    us,
    error: { max_abs: error.max_abs, max_rel: error.max_rel },
    level,
    date,
  };
}

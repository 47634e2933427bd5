/**
 * Reads the least differences that count as slower or faster, by suite.
 *
 * @module
 */

import {
  exactOptional,
  getDotPath,
  type InferOutput,
  maxValue,
  minValue,
  number,
  pipe,
  record,
  safeParse,
  strictObject,
  string,
} from "valibot";
import { brief, UserError } from "../../bench/model/errors.ts";

/** The least difference that counts: both must be passed. */
export interface Threshold {
  /** Relative: 0.03 is 3 %. */
  readonly relative: number;
  /** Absolute, microseconds. */
  readonly minUs: number;
}

/** Larger ones would let everything pass, by mistake. */
const MOST = 1e6;
const EXPECTED = `a number from 0 to ${MOST}`;
const AMOUNT = exactOptional(
  pipe(number(EXPECTED), minValue(0, EXPECTED), maxValue(MOST, EXPECTED)),
);
const OBJECT = "an object";
const LIMITS = strictObject({ threshold: AMOUNT, minUs: AMOUNT }, OBJECT);
const FILE = strictObject({
  ...LIMITS.entries,
  suites: exactOptional(record(string(), LIMITS, OBJECT)),
}, OBJECT);

/** Limits as they are given: `threshold` in per cent, `minUs` in microseconds. */
export type Limits = Partial<Record<keyof typeof LIMITS.entries, number>>;
/** The content of a file of thresholds: limits for all suites, and for some by name. */
type ThresholdFile = InferOutput<typeof FILE>;

const DEFAULTS = { threshold: 3, minUs: 0.2 };

/**
 * Returns the threshold of each suite: from `flags`, else from the file for that suite, else from
 * the file for all, else 3 % and 0.2 us.
 */
export function thresholdsOf(
  flags: Limits = {},
  { suites = {}, ...all }: ThresholdFile = {},
): (suite: string) => Threshold {
  const known = new Map<string, Threshold>();
  return (suite) => {
    const found = known.get(suite);
    if (found) return found;
    // A suite may have the name of something that every object has.
    const own = Object.hasOwn(suites, suite) ? suites[suite] : {};
    const { threshold, minUs } = { ...DEFAULTS, ...all, ...own, ...flags };
    const result = { relative: threshold / 100, minUs };
    known.set(suite, result);
    return result;
  };
}

/**
 * Reads the text of a file of thresholds: `threshold` in per cent and `minUs`, for all
 * suites and under `suites` for one.
 *
 * @param file Named in errors.
 * @throws {UserError} For anything else in it.
 *
 * @example
 * ```ts
 * import { parseThresholds, thresholdsOf } from "./thresholds.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const text = '{ "threshold": 5, "suites": { "matmul-fp32": { "minUs": 1 } } }';
 * const limits = thresholdsOf({}, parseThresholds(text, "diff.json"));
 * deepStrictEqual(limits("matmul-fp32"), { relative: 0.05, minUs: 1 });
 * ```
 */
export function parseThresholds(text: string, file: string): ThresholdFile {
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot read ${file}: ${why}; it may have "threshold" (per cent), "minUs" and "suites" with the same of a suite`,
    );
  };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    return refuse(`it is not JSON (${(cause as Error).message})`);
  }
  if (Array.isArray(content)) return refuse("it is a list");
  const parsed = safeParse(FILE, content);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = brief(getDotPath(issue) ?? "it");
  return refuse(
    issue.expected === "never"
      ? `${path} is unknown`
      : `${path} is ${brief(issue.received)}, and must be ${issue.message}`,
  );
}

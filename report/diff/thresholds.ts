/**
 * Reads the least differences that count as slower or faster, by suite.
 *
 * @module
 */

import {
  getDotPath,
  type InferOutput,
  minValue,
  number,
  optional,
  pipe,
  record,
  safeParse,
  strictObject,
  string,
} from "valibot";
import { UserError } from "../../bench/model/errors.ts";

/** The least difference that counts: both must be passed. */
export interface Threshold {
  /** Relative: 0.03 is 3 %. */
  readonly relative: number;
  /** Absolute, microseconds. */
  readonly minUs: number;
}

/** 3 % and 0.2 us. */
export const DEFAULT_THRESHOLD: Threshold = { relative: 0.03, minUs: 0.2 };

/** The thresholds that were given, in the order of precedence: a flag, then the file. */
export interface ThresholdSpec {
  readonly flags: Partial<Threshold>;
  readonly file: ThresholdFile;
}

/** The content of a file of thresholds. */
export interface ThresholdFile {
  readonly all: Partial<Threshold>;
  readonly suites: Readonly<Record<string, Partial<Threshold>>>;
}

/** A file without thresholds. */
export const NO_FILE: ThresholdFile = { all: {}, suites: {} };

const AMOUNT = optional(
  pipe(
    number("a number of at least 0"),
    minValue(0, "a number of at least 0"),
  ),
);
const OBJECT = "an object";
const LIMITS = strictObject({ threshold: AMOUNT, minUs: AMOUNT }, OBJECT);
const FILE = strictObject({
  ...LIMITS.entries,
  suites: optional(record(string(), LIMITS, OBJECT)),
}, OBJECT);

/** Returns the threshold of the rows of `suite`. */
export function thresholdOf(
  suite: string,
  { flags, file }: ThresholdSpec,
): Threshold {
  const own = Object.hasOwn(file.suites, suite) ? file.suites[suite] : {};
  return { ...DEFAULT_THRESHOLD, ...file.all, ...own, ...flags };
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
 * import { parseThresholds } from "./thresholds.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const text = '{ "threshold": 5, "suites": { "matmul-fp32": { "minUs": 1 } } }';
 * deepStrictEqual(parseThresholds(text, "diff.json"), {
 *   all: { relative: 0.05 },
 *   suites: { "matmul-fp32": { minUs: 1 } },
 * });
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
  const parsed = safeParse(FILE, content);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const path = getDotPath(issue) ?? "it";
    return refuse(
      issue.expected === "never"
        ? `${path} is unknown`
        : `${path} is ${issue.received}, and must be ${issue.message}`,
    );
  }
  const { suites = {}, ...all } = parsed.output;
  const own = Object.entries(suites).map(([suite, of]) =>
    [suite, thresholdIn(of)] as const
  );
  return { all: thresholdIn(all), suites: Object.fromEntries(own) };
}

function thresholdIn(
  { threshold, minUs }: InferOutput<typeof LIMITS>,
): Partial<Threshold> {
  return {
    ...(threshold !== undefined && { relative: threshold / 100 }),
    ...(minUs !== undefined && { minUs }),
  };
}

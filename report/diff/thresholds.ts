/**
 * From which difference on a row counts as slower or faster, by suite.
 *
 * @module
 */

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

/** What was asked for, in the order of precedence: a flag, then the file. */
export interface ThresholdSpec {
  readonly flags: Partial<Threshold>;
  readonly file: ThresholdFile;
}

/** The content of a file of thresholds. */
export interface ThresholdFile {
  readonly all: Partial<Threshold>;
  readonly suites: Readonly<Record<string, Partial<Threshold>>>;
}

/** A file that says nothing. */
export const NO_FILE: ThresholdFile = { all: {}, suites: {} };

/** The threshold of the rows of `suite`. */
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
  const limits = (where: string, of: unknown): Partial<Threshold> => {
    const result: { -readonly [K in keyof Threshold]?: Threshold[K] } = {};
    for (const [name, value] of Object.entries(objectOf(where, of))) {
      if (name === "suites" && where === "it") continue;
      if (name !== "threshold" && name !== "minUs") {
        return refuse(`${where} has ${JSON.stringify(name)}`);
      }
      if (typeof value !== "number" || !(value >= 0)) {
        return refuse(
          `${where} has ${name} ${
            JSON.stringify(value)
          }, which is no number of at least 0`,
        );
      }
      if (name === "threshold") result.relative = value / 100;
      else result.minUs = value;
    }
    return result;
  };
  const objectOf = (where: string, of: unknown): Record<string, unknown> =>
    typeof of === "object" && of !== null && !Array.isArray(of)
      ? of as Record<string, unknown>
      : refuse(`${where} is not an object`);
  const { suites = {} } = objectOf("it", content);
  const own = Object.entries(objectOf("suites", suites))
    .map(([suite, of]) => [suite, limits(suite, of)] as const);
  return { all: limits("it", content), suites: Object.fromEntries(own) };
}

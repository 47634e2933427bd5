/**
 * Reads the output of `deno test`.
 *
 * @module
 */

/**
 * The counts of the last summary in `text`; zeros where there is none.
 *
 * @example
 * ```ts
 * import { countTests } from "./test_output.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const text = "FAILED | 12 passed (3 steps) | 2 failed | 1 ignored (4s)";
 * deepStrictEqual(countTests(text), { passed: 12, failed: 2 });
 * ```
 */
export function countTests(
  text: string,
): { readonly passed: number; readonly failed: number } {
  const summary = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/gm;
  const last = [...text.matchAll(summary)].at(-1);
  return { passed: Number(last?.[1] ?? 0), failed: Number(last?.[2] ?? 0) };
}

/**
 * The names of tests that were ignored: each ends with the reason.
 *
 * @example
 * ```ts
 * import { ignoredTests } from "./test_output.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const text = "cuda() loads a cubin, skipped: no GPU ... ignored (0ms)\nx ... ok (1ms)\n";
 * deepStrictEqual(ignoredTests(text), ["cuda() loads a cubin, skipped: no GPU"]);
 * ```
 */
export function ignoredTests(text: string): readonly string[] {
  return Array.from(
    text.matchAll(/^\s*(.*?) \.\.\. ignored(?: \(.*\))?$/gm),
    ([, name]) => name!,
  );
}

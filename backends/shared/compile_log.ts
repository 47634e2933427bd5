/**
 * What compilers for C-like languages print.
 *
 * @module
 */

import { CaseError } from "../../bench/model/errors.ts";

/**
 * Returns the failure behind a compiler's `log`: its first error, without the folder
 * that the source is in, and the whole log as its cause.
 */
export function compileError(log: string, folder: string): CaseError {
  const lines = log.split("\n").map((line) => line.trim()).filter(Boolean);
  const first = lines.find((line) => /\b(error|fatal)\b/i.test(line)) ??
    lines[0] ?? "the compiler failed and printed nothing";
  return new CaseError("compile", first.replaceAll(folder, ""), { cause: log });
}

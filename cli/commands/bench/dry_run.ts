/**
 * `bench --dry-run`: the cases, and why some would not run.
 *
 * @module
 */

import { EXIT } from "../../../bench/model/errors.ts";
import type { Selected } from "../../../session/selection.ts";
import { say, tell } from "../../terminal/output.ts";

/** Prints a line for each case. @returns The exit code. */
export function dryRun({ cases, info }: Selected): number {
  for (const one of cases) {
    const parts = [one.suite, one.kernel, one.backend, one.problem.title];
    const reason = one.unsupported(info);
    if (reason !== undefined) parts.push(`unsupported: ${reason}`);
    else parts.push(configsOf([...one.candidates(info)]));
    say(parts.join("  "));
  }
  tell(`${cases.length} cases; nothing was run`);
  return EXIT.ok;
}

function configsOf(
  candidates: readonly { readonly illegal?: string | undefined }[],
): string {
  const legal = candidates.filter(({ illegal }) => illegal === undefined);
  const illegal = candidates.length - legal.length;
  return `${legal.length} ${legal.length === 1 ? "config" : "configs"}${
    illegal > 0 ? ` (${illegal} illegal)` : ""
  }`;
}

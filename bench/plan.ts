/**
 * A kernel's plan at a point, whoever wrote the kernel.
 *
 * @module
 */

import { CaseError } from "./errors.ts";
import type { Plan } from "./kernel.ts";
import type { Runnable } from "./suite.ts";

/** A kernel's plan; a mistake in its TypeScript is its failure, not the harness's. */
export function planOf(
  runnable: Runnable,
  context: Parameters<Runnable["prepare"]>[0],
): Plan {
  try {
    return runnable.prepare(context);
  } catch (error) {
    if (error instanceof CaseError) throw error;
    throw new CaseError("launch", `Cannot prepare the kernel: ${error}`, {
      cause: error,
    });
  }
}

/**
 * Turns what a kernel's own TypeScript throws into a failed case.
 *
 * @module
 */

import { CaseError, UserError } from "./errors.ts";

/**
 * What `work`, a part of a kernel, gives; a mistake in it is the kernel's failure, not the
 * harness's.
 *
 * @param what What cannot be done then, after "Cannot".
 * @throws {CaseError} `launch`, where `work` throws anything else.
 */
export function blame<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CaseError) throw error;
    const text = error instanceof UserError ? error.message : `${error}`;
    const said = text.split("\n")[0];
    throw new CaseError("launch", `Cannot ${what}: ${said}`, { cause: error });
  }
}

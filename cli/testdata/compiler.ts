/**
 * Finds out whether this machine can build the CPU's kernels.
 *
 * @module
 */

import { cpu } from "../../backends/cpu/cpu.ts";
import { CaseError } from "../../bench/model/errors.ts";

/** Says why nothing can be compiled here, for the names of tests; empty where it can. */
export function lacking(): string {
  try {
    cpu.compiler(Deno.build.arch);
    return "";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return ` (ignored: ${error.message})`;
  }
}

/**
 * `mnkbench gate`: what can be detected here, and whether what was detected is so.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import { calibrate } from "./compare/calibrate.ts";
import { confirm } from "./compare/confirm.ts";
import type { GateArguments } from "../../session/options.ts";

/** Calibrates or confirms. @returns The exit code. */
export async function gate(options: GateArguments): Promise<number> {
  const { paths } = options;
  if (options.calibrate === options.confirm) {
    throw new UserError(
      "Cannot tell what to do: give either --calibrate, or --confirm BASE NEW",
    );
  }
  if (options.calibrate) {
    return await calibrate({ ...options, base: "", next: "" });
  }
  const [base, next] = paths;
  if (base === undefined || next === undefined || paths.length > 2) {
    throw new UserError(
      `Cannot confirm ${paths.length} paths: give the rows before and after, --confirm BASE NEW`,
    );
  }
  return await confirm({ ...options, base, next });
}

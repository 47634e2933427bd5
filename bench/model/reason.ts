/**
 * Why something cannot run, as a kernel's author gives it.
 *
 * @module
 */

import { UserError } from "./errors.ts";

/**
 * `given`, where it is a reason or nothing.
 *
 * @param who What gave it, in errors.
 * @throws {UserError} For anything else: true would forbid what it was to allow.
 */
export function reasonOf(who: string, given: unknown): string | undefined {
  if (given === undefined || typeof given === "string") return given;
  throw new UserError(
    `${who} gave ${given}, which is no reason: give a text that says why not, or undefined where it can run`,
  );
}

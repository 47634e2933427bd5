/**
 * Limits the memory that a plan takes beside its operands.
 *
 * @module
 */

import { CaseError } from "./errors.ts";

/** The room for one plan's workspaces. */
export class Workspace {
  #taken = 0;

  /** @param limit Bytes. @default {as many as there are} */
  constructor(readonly limit: number = Infinity) {}

  /** Takes `bytes`. @throws {CaseError} `unsupported`, where that is beyond the limit. */
  take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken <= this.limit) return;
    throw new CaseError(
      "unsupported",
      `It takes ${this.#taken} bytes of workspace, and ${this.limit} are allowed: raise --workspace`,
    );
  }
}

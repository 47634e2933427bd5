/**
 * Failures of a driver's calls.
 *
 * @module
 */

import { CaseError, type Failure } from "../../../bench/model/errors.ts";

/** A call of a driver or vendor library that returned a bad status. */
export class CallError extends CaseError {
  override name = "CallError";
  /**
   * @param failure What it means for the case at work.
   * @param message The call, the status's name, number and text.
   * @param status The status itself.
   */
  constructor(
    failure: Failure,
    message: string,
    readonly status: number,
    options?: ErrorOptions,
  ) {
    super(failure, message, options);
  }
}

/** What a library says of one of its statuses. */
export interface StatusText {
  /** e.g. `CUDA_ERROR_ILLEGAL_ADDRESS`; empty where the library does not know it. */
  readonly name: string;
  /** A sentence about it, or nothing. */
  readonly text: string;
}

/** Returns `cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal ...`. */
export function callMessage(
  call: string,
  status: number,
  { name, text }: StatusText,
): string {
  const known = name === "" ? `status ${status}` : `${name} (${status})`;
  return `${call}: ${known}${text === "" ? "" : `: ${text}`}`;
}

/**
 * Runs `work` and says what it was for if one of its calls fails.
 *
 * @throws {CallError} With `action` before the call's own message.
 */
export function explaining<T>(action: () => string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const message = `${action()}: ${error.message}`;
    throw new CallError(error.failure, message, error.status, { cause: error });
  }
}

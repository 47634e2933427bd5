/**
 * The failures that become rows, and the ones that end the program with a message.
 *
 * @module
 */

/** Why a case has no timing. */
export type Failure =
  | "unsupported"
  | "compile"
  | "launch"
  | "oom"
  | "wrong"
  | "timeout"
  | "crash"
  /** The timing cache has no config for it, and was to have one. */
  | "untuned";

/** A failure of the kernel under test, not of the harness: it becomes a row. */
export class CaseError extends Error {
  override name = "CaseError";
  /**
   * @param failure What went wrong.
   * @param message The action and its cause, on one line.
   * @param options The error behind it.
   */
  constructor(
    readonly failure: Failure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Exit codes of the program. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  nothing: 3,
  broken: 4,
} as const;

/** One of {@linkcode EXIT}. */
export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** Something the person at the keyboard can mend: printed as one line, without a stack. */
export class UserError extends Error {
  override name = "UserError";
  /**
   * @param message What, why, and what would work.
   * @param code The exit code that it ends with.
   */
  constructor(message: string, readonly code: ExitCode = EXIT.usage) {
    super(message);
  }
}

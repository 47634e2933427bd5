/**
 * Defines failures that become rows, and errors that end the program with a message.
 *
 * @module
 */

/** The reason why a case has no timing: the `status` of its row. */
export type Failure =
  | "unsupported"
  | "compile"
  | "launch"
  | "oom"
  | "wrong"
  | "timeout"
  | "crash"
  /** The timing cache has no config, and `--error-on-cache-miss` demands one. */
  | "untuned";

/** A failure of the kernel under test. It becomes a row. */
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

/** Lists the exit codes of the program. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  nothing: 3,
  broken: 4,
} as const;

/** One of {@linkcode EXIT}. */
export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** A mistake that the user can correct, printed as one line without a stack. */
export class UserError extends Error {
  override name = "UserError";
  /**
   * @param message The action, the cause and the way out.
   * @param code The exit code of the program.
   */
  constructor(message: string, readonly code: ExitCode = EXIT.usage) {
    super(message);
  }
}

/**
 * Defines failures that become rows, errors that end the program with a message, and how
 * mistakes in a kernel's own TypeScript become one of them.
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

/**
 * Runs `work`, a part of a kernel. A mistake in it is the kernel's failure, not the
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

/**
 * Returns `given` if it is a reason or `undefined`.
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

const MOST = 40;

/**
 * Formats a value for error texts: quoted, without line ends, at most 40 characters.
 *
 * @example
 * ```ts
 * import { show } from "./errors.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(show("a\nb"), '"a\\nb"');
 * ```
 */
export function show(value: string): string {
  return brief(JSON.stringify(value));
}

/** Shortens a text of a file for error texts, to at most `most` characters. */
export function brief(text: string, most = MOST): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

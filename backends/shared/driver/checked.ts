/**
 * C libraries whose functions return a status, as functions that throw.
 *
 * @module
 */

import { CaseError, type Failure } from "../../../bench/model/errors.ts";

type Definitions = Deno.ForeignLibraryInterface;
type Symbols<D extends Definitions> = Deno.StaticForeignLibraryInterface<D>;

type Throwing<F> = F extends (...args: infer A) => infer R
  ? (...args: A) => R extends Promise<unknown> ? Promise<void> : void
  : never;

/**
 * The functions of a library: those that return an `i32` return nothing, because a
 * status other than 0 is thrown; the others are as C has them.
 */
export type Checked<D extends Definitions> = {
  readonly [K in keyof D]: D[K] extends { readonly result: "i32" }
    ? Throwing<NonNullable<Symbols<D>[K]>> | Extract<Symbols<D>[K], null>
    : Symbols<D>[K];
};

/** Turns a library's statuses into errors. */
export interface Statuses<D extends Definitions> {
  /** Makes the error for a status other than 0 that the C function `call` returned. */
  error(symbols: Symbols<D>, call: string, status: number): Error;
  /**
   * The functions that give things back. Their status is ignored: after a failed
   * launch they fail too, and must not hide what failed first.
   *
   * @default {[]}
   */
  readonly releasing?: readonly (keyof D & string)[];
}

/**
 * Opens the library at `path` and checks every function that returns an `i32`, so that
 * no status can be forgotten.
 *
 * @throws {Error} Where the library cannot be opened or lacks a function.
 */
export function openChecked<const D extends Definitions>(
  path: string,
  definitions: D,
  statuses: Statuses<D>,
): Checked<D> {
  const { symbols } = Deno.dlopen(path, definitions);
  const { releasing = [] } = statuses;
  const wrapped: Record<string, unknown> = {};
  for (const [key, definition] of Object.entries(definitions)) {
    const foreign: unknown = symbols[key as keyof typeof symbols];
    wrapped[key] = foreign === null || !returnsStatus(definition)
      ? foreign
      : throwing(
        foreign as Foreign,
        releasing.includes(key)
          ? undefined
          : (status) => statuses.error(symbols, definition.name ?? key, status),
      );
  }
  return wrapped as Checked<D>;
}

type Foreign = (...args: unknown[]) => number | Promise<number>;

function throwing(
  foreign: Foreign,
  error: ((status: number) => Error) | undefined,
): (...args: unknown[]) => void | Promise<void> {
  const check = (status: number) => {
    if (status !== 0 && error) throw error(status);
  };
  return (...args) => {
    const status = foreign(...args);
    if (status === 0) return;
    return typeof status === "number" ? check(status) : status.then(check);
  };
}

function returnsStatus(
  definition: Definitions[string],
): definition is Deno.ForeignFunction {
  return "result" in definition && definition.result === "i32";
}

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

/** A library's name and text of a status. */
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

/** Returns what `ask` returns, or `undefined` where the device does not offer it. */
export function given<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return undefined;
  }
}

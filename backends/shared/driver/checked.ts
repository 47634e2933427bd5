/**
 * C libraries whose functions return a status, as functions that throw.
 *
 * @module
 */

import type { Telemetry } from "../../../bench/device/device.ts";
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

/** A library's name and text of a status: each may be empty. */
export interface StatusText {
  /** e.g. `CUDA_ERROR_ILLEGAL_ADDRESS`. */
  readonly name?: string;
  /** A sentence about it. */
  readonly text?: string;
}

/** The meaning of a library's statuses. */
export interface Statuses<D extends Definitions> {
  /** Explains a status other than 0. @default {by its number alone} */
  explain?(symbols: Symbols<D>, status: number): StatusText;
  /** The outcome of a case that meets the status. @default {launch} */
  failure?(status: number): Failure;
  /**
   * The functions that release something. Their status is ignored: after a failed
   * launch they fail too, and must not hide what failed first.
   *
   * @default {[]}
   */
  readonly releasing?: readonly (keyof D & string)[];
}

/**
 * Opens the library at `path` and checks every function that returns an `i32`: a status
 * other than 0 throws a {@linkcode CallError}.
 *
 * @throws {Error} Where the library cannot be opened or lacks a function.
 */
export function openChecked<const D extends Definitions>(
  path: string,
  definitions: D,
  { explain, failure, releasing = [] }: Statuses<D> = {},
): Checked<D> {
  const { symbols } = Deno.dlopen(path, definitions);
  const errorOf = (call: string, status: number) => {
    const { name = "", text = "" } = explain?.(symbols, status) ?? {};
    const known = name === "" ? `status ${status}` : `${name} (${status})`;
    const message = `${call}: ${known}${text === "" ? "" : `: ${text}`}`;
    return new CallError(failure?.(status) ?? "launch", message, status);
  };
  const wrapped: Record<string, unknown> = {};
  for (const [key, definition] of Object.entries(definitions)) {
    const foreign: unknown = symbols[key as keyof typeof symbols];
    wrapped[key] = foreign === null || !returnsStatus(definition)
      ? foreign
      : throwing(
        foreign as Foreign,
        releasing.includes(key)
          ? undefined
          : (status) => errorOf(definition.name ?? key, status),
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

/** Functions that return a status, by their parameters. */
type Signatures = Readonly<Record<string, readonly Deno.NativeType[]>>;

/** The definitions for `Deno.dlopen` of functions that return a status. */
export type StatusCalls<T extends Signatures> = {
  readonly [C in keyof T]: {
    readonly name: string;
    readonly parameters: T[C];
    readonly result: "i32";
  };
};

/** The same of functions that a library may lack. */
export type OptionalCalls<T extends Signatures> = {
  readonly [C in keyof T]: StatusCalls<T>[C] & { readonly optional: true };
};

/** Returns the definitions of `table`, whose functions C knows as `nameOf` says. */
export function statusCalls<const T extends Signatures>(
  table: T,
  nameOf: (call: string) => string,
): StatusCalls<T> {
  return Object.fromEntries(
    Object.entries(table).map(([call, parameters]) => [
      call,
      { name: nameOf(call), parameters, result: "i32" },
    ]),
  ) as unknown as StatusCalls<T>;
}

/** The same as {@linkcode statusCalls} of functions that a library may lack. */
export function optionalCalls<const T extends Signatures>(
  table: T,
  nameOf: (call: string) => string,
): OptionalCalls<T> {
  return Object.fromEntries(
    Object.entries(statusCalls(table, nameOf)).map(([call, definition]) => [
      call,
      { ...definition, optional: true },
    ]),
  ) as unknown as OptionalCalls<T>;
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
export function ifOffered<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return undefined;
  }
}

/** Reads each figure; one that the device does not offer is left out. */
export function readings(
  ask: {
    readonly [K in keyof Telemetry]-?: () => Telemetry[K] | undefined;
  },
): Telemetry {
  return Object.fromEntries(
    Object.entries(ask).map(([name, read]) => [name, ifOffered<unknown>(read)])
      .filter(([, value]) => value !== undefined),
  );
}

/**
 * Calls functions of suites. One that never returns blocks the event loop, and with it the listeners of
 * the program to signals, so these are removed during each call.
 *
 * @module
 */

import type { DeviceInfo } from "../bench/device/device.ts";
import { blame, CaseError, UserError } from "../bench/model/errors.ts";
import { type Case, reasonAgainst } from "../bench/model/suite.ts";

/** A listener to signals. A signal ends the program only if nothing listens. */
export interface Listener {
  /** Begins to listen. */
  listen(): void;
  /** Stops listening. */
  leave(): void;
}

const listeners = new Set<Listener>();
let isCalling = false;

/** Makes `listener` listen until the result is disposed, except during calls of functions of suites. */
export function listenBetween(listener: Listener): Disposable {
  listeners.add(listener);
  if (!isCalling) listener.listen();
  return {
    [Symbol.dispose]() {
      listeners.delete(listener);
      if (!isCalling) listener.leave();
    },
  };
}

/** Watches calls of functions of suites. */
export interface CallWatch {
  /** Called when a call begins, also within another. */
  begin(): void;
  /** Called when the outermost call ends. */
  end(): void;
}

let watch: CallWatch | undefined;

/** Makes `one` watch all later calls. */
export function watchCalls(one: CallWatch): void {
  watch = one;
}

/**
 * Runs `work`, which calls functions of suites synchronously. During it a signal ends the program, and
 * so does the time limit of a watch of {@linkcode watchCalls}.
 */
export function callSuite<T>(work: () => T): T {
  watch?.begin();
  if (isCalling) return work();
  isCalling = true;
  for (const one of listeners) one.leave();
  try {
    return work();
  } finally {
    isCalling = false;
    watch?.end();
    for (const one of listeners) one.listen();
  }
}

/** Yields the items of `made`, whose iterator calls functions of suites. */
export function* callEach<T>(made: Iterable<T>): Generator<T> {
  const left = Iterator.from(made);
  try {
    while (true) {
      const { done, value } = callSuite(() => left.next());
      if (done) return;
      yield value;
    }
  } finally {
    // Lets a generator of the suite clean up if the caller stops early.
    callSuite(() => left.return?.());
  }
}

/**
 * Returns whether the kernel of `c` supports the device of `info`. A kernel that throws does so again in
 * the worker, where it becomes a failed row.
 */
export function supportOf(
  c: Pick<Case, "unsupported">,
  info: DeviceInfo,
): "runs" | "unsupported" | "throws" {
  try {
    const reason = callSuite(() => reasonAgainst(c, info));
    return reason === undefined ? "runs" : "unsupported";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return "throws";
  }
}

/**
 * Runs `work`, which calls `functions` of the kernel of `one`.
 *
 * @throws {UserError} If it throws anything, as without a run there is no row for the failure.
 */
export function askKernel<T>(
  { suite, kernel }: Pick<Case, "suite" | "kernel">,
  functions: string,
  work: () => T,
): T {
  const what = `ask ${functions} of the kernel ${kernel} in the suite ${suite}`;
  try {
    return blame(what, () => callSuite(work));
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    throw new UserError(error.message);
  }
}

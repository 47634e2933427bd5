/**
 * Calls functions of suites in the program itself, where one that never ends keeps the event loop
 * from everything else, the program's own listeners to signals among it.
 *
 * @module
 */

import type { DeviceInfo } from "../bench/device/device.ts";
import { blame, CaseError, UserError } from "../bench/model/errors.ts";
import { type Case, reasonAgainst } from "../bench/model/suite.ts";

/** Listens to signals, which end the program only where nothing does. */
export interface Listener {
  /** Begins to listen. */
  listen(): void;
  /** Stops to listen. */
  leave(): void;
}

const listeners = new Set<Listener>();
let isCalling = false;

/** Has `listener` listen until it is disposed of, but during calls of suites' functions. */
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

/** Is told of calls. */
export interface CallWatch {
  /** A call begins, also within another. */
  begin(): void;
  /** No call is left. */
  end(): void;
}

let watch: CallWatch | undefined;

/** Tells `one` of all calls from now on. */
export function watchCalls(one: CallWatch): void {
  watch = one;
}

/**
 * Runs `work`, which calls functions of suites and does not wait. A signal ends the program, and
 * so does a time limit where {@linkcode watchCalls} was given one.
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

/** Yields what `made` yields, which calls functions of suites for each. */
export function* callEach<T>(made: Iterable<T>): Generator<T> {
  const left = Iterator.from(made);
  try {
    while (true) {
      const { done, value } = callSuite(() => left.next());
      if (done) return;
      yield value;
    }
  } finally {
    // Where the reader wants no more, a generator of the suite still cleans up.
    callSuite(() => left.return?.());
  }
}

/**
 * Asks the kernel of `c` whether it runs on the device of `info`. A kernel that throws does so
 * again in the worker, where it becomes a failed row.
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
 * @throws {UserError} Where it throws anything: no row can say so where nothing is run.
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

/**
 * Provides the clock by which waits end: the machine's own, or one that a test moves.
 *
 * @module
 */

/** Tells the time and ends waits. */
export interface Clock {
  /** Milliseconds since a moment that does not change. */
  now(): number;
  /** Calls `ring` once, `ms` milliseconds from now, unless it is disposed of before. */
  timer(ms: number, ring: () => void): Disposable;
  /** Blocks this thread for `ms` milliseconds. */
  block(ms: number): void;
}

/** The longest delay of `setTimeout`; a longer one would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's monotonic clock; a timer rings after 24.8 days at the latest. */
export const realClock: Clock = {
  now: () => performance.now(),
  timer(ms, ring) {
    const id = setTimeout(ring, Math.min(ms, LONGEST_MS));
    return { [Symbol.dispose]: () => clearTimeout(id) };
  },
  block(ms) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  },
};

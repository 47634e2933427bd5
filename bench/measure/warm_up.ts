/**
 * Brings a device's clocks up before anything is timed.
 *
 * @module
 */

import type { Stopwatch } from "./time.ts";

/** How long to warm, and when clocks count as steady. */
export interface WarmOptions {
  /** Milliseconds of one window. @default {4} */
  readonly windowMs?: number;
  /** Milliseconds to warm at least. @default {0} */
  readonly leastMs?: number;
  /** Milliseconds after which it is left at that. @default {1000} */
  readonly mostMs?: number;
}

/** Two windows agree when they differ by less than this share. */
const AGREEMENT = 0.01;

/**
 * Runs `filler` until two windows in a row take the same time, and returns the
 * milliseconds of device time that this took.
 */
export function warm(
  stopwatch: Stopwatch,
  filler: () => void,
  { windowMs = 4, leastMs = 0, mostMs = 1000 }: WarmOptions = {},
): number {
  const window = (count: number) =>
    stopwatch.take(1, {
      flush: () => {},
      run() {
        for (let i = 0; i < count; i++) filler();
      },
    })[0]! / 1e6;
  const one = Math.max(window(1), 1e-3);
  const count = Math.max(1, Math.round(windowMs / one));
  let [spent, last] = [one, NaN];
  while (spent < mostMs) {
    const now = window(count);
    spent += now;
    // NaN compares false, so one window never agrees with itself.
    if (spent >= leastMs && Math.abs(now - last) < AGREEMENT * now) break;
    last = now;
  }
  return spent;
}

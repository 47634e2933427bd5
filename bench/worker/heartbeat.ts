/**
 * Sends signs of life of a worker whose work is slow but not stuck.
 *
 * @module
 */

import { type Clock, realClock } from "./clock.ts";

/** Often enough for the least `--timeout`, seldom enough to cost nothing. */
const EVERY_MS = 50;

/** Says that the worker lives, not too often. */
export class Pulse {
  #last: number;

  /**
   * @param say Says it once.
   * @param clock Measures how long ago that was.
   */
  constructor(
    private readonly say: () => void,
    private readonly clock: Clock = realClock,
  ) {
    this.#last = clock.now();
  }

  /** Says it, unless it was said just now. Call it whenever slow work got on. */
  beat(): void {
    const now = this.clock.now();
    if (now - this.#last < EVERY_MS) return;
    this.#last = now;
    this.say();
  }

  /**
   * What `work` gives, with signs of life until it ends, for `mostMs` milliseconds at most:
   * for work on other threads or processes, with a limit of its own.
   */
  async during<T>(work: Promise<T>, mostMs: number): Promise<T> {
    const end = this.clock.now() + mostMs;
    let timer: Disposable | undefined;
    const wait = () => {
      timer = this.clock.timer(EVERY_MS, () => {
        if (this.clock.now() >= end) return;
        this.beat();
        wait();
      });
    };
    wait();
    try {
      return await work;
    } finally {
      timer?.[Symbol.dispose]();
    }
  }
}

/**
 * Provides the clock by which waits end, and a worker's signs of life by it.
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

/**
 * Signs of life of a worker whose work is slow, and not stuck.
 *
 * @module
 */

/** Often enough for the least `--timeout`, seldom enough to cost nothing. */
const EVERY_MS = 50;

/** Says that the worker lives, not too often. */
export class Pulse {
  #last = performance.now();

  /** @param say Says it once. */
  constructor(private readonly say: () => void) {}

  /** Says it, unless it was said just now. Call it whenever slow work got on. */
  beat(): void {
    const now = performance.now();
    if (now - this.#last < EVERY_MS) return;
    this.#last = now;
    this.say();
  }

  /**
   * What `work` gives, with signs of life until it ends, for `mostMs` milliseconds at most:
   * for work on other threads or processes, with a limit of its own.
   */
  async during<T>(work: Promise<T>, mostMs: number): Promise<T> {
    const end = performance.now() + mostMs;
    const timer = setInterval(() => {
      if (performance.now() < end) this.beat();
    }, EVERY_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }
}

/**
 * A clock that stands still until it is told how much time passes.
 *
 * @module
 */

import type { Clock } from "../worker/clock.ts";

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** A clock for tests: no time passes by itself. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();
  #armed = Promise.withResolvers<void>();

  /** @inheritdoc */
  now(): number {
    return this.#now;
  }

  /** @inheritdoc */
  timer(ms: number, ring: () => void): Disposable {
    const timer = { at: this.#now + ms, ring };
    this.#timers.add(timer);
    this.#armed.resolve();
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Lets the time pass at once. */
  block(ms: number): void {
    this.advance(ms);
  }

  /** Resolves as soon as there is a timer. */
  armed(): Promise<void> {
    if (this.#timers.size === 0) this.#armed = Promise.withResolvers();
    return this.#armed.promise;
  }

  /** Lets `ms` milliseconds pass, and tells how many timers rang. */
  advance(ms: number): number {
    const end = this.#now + ms;
    let rung = 0;
    while (true) {
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (!next || next.at > end) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.ring();
      rung++;
    }
    this.#now = end;
    return rung;
  }
}

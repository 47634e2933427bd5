/**
 * Accounts for the wall time of a worker.
 *
 * @module
 */

/** Activities that take time. */
export type Phase = Exclude<keyof Spent, "total" | "asked">;

/** Adds up wall time by phase; time within a nested phase counts there alone. */
export class Ledger {
  readonly #spent: Record<Phase, number> = {
    build: 0,
    calibrate: 0,
    search: 0,
    check: 0,
    time: 0,
  };
  readonly #open: Phase[] = [];
  readonly #now: () => number;
  readonly #started: number;
  #since: number;
  #asked = 0;

  /** @param now Milliseconds since any start. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#started = this.#since = now();
  }

  /** Runs `work`, or waits for it, and counts its time as spent on `phase`. */
  count<T>(phase: Phase, work: () => T): T {
    this.#settle();
    this.#open.push(phase);
    const close = () => {
      this.#settle();
      this.#open.pop();
    };
    let result: T;
    try {
      result = work();
    } catch (error) {
      close();
      throw error;
    }
    if (result instanceof Promise) return result.finally(close) as T;
    close();
    return result;
  }

  /** Notes that a budget of `ms` was asked for. */
  ask(ms: number): void {
    this.#asked += ms;
  }

  /** Returns the time spent so far, by activity. */
  get spent(): Spent {
    this.#settle();
    const { calibrate, check } = this.#spent;
    return {
      ...this.#spent,
      asked: this.#asked + calibrate + check,
      total: this.#since - this.#started,
    };
  }

  #settle(): void {
    const now = this.#now();
    const phase = this.#open.at(-1);
    if (phase) this.#spent[phase] += now - this.#since;
    this.#since = now;
  }
}

/** Milliseconds of wall time that a worker spent, by what for. */
export interface Spent {
  readonly build: number;
  /** Clock warm-up, timer floor, load curve and matrix-product peak. */
  readonly calibrate: number;
  readonly search: number;
  /** Inputs, reference, comparison. */
  readonly check: number;
  /** The do_bench of winners: estimate, warm-up and samples, flushes included. */
  readonly time: number;
  /** Time that settings asked for: warm-up, samples, searches, checks, calibration. */
  readonly asked: number;
  readonly total: number;
}

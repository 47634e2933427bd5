/**
 * Stops long work on Ctrl-C without losing rows.
 *
 * @module
 */

/** Aborted by the first Ctrl-C; the second ends the program at once. */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #stop = () => {
    this[Symbol.dispose]();
    this.#controller.abort();
  };

  /** Listens from now on. */
  constructor() {
    Deno.addSignalListener("SIGINT", this.#stop);
  }

  /** What long work listens to. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Leaves the signal to others. */
  [Symbol.dispose](): void {
    Deno.removeSignalListener("SIGINT", this.#stop);
  }
}

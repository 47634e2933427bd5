/**
 * What kernels print, as a terminal and a log can take it.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";

/** Characters that one worker may print. */
const LIMIT = 1 << 16;

/** `text` without escapes and control characters, line feeds and tabs excepted. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[^\P{Cc}\t\n]/gu, "");
}

/** Passes on the first of what a worker prints, and says once that there is more. */
export class PrintOut {
  readonly #sink: (text: string) => void;
  #left = LIMIT;

  /** @param sink Takes what is passed on. */
  constructor(sink: (text: string) => void) {
    this.#sink = sink;
  }

  /** Takes the next piece. */
  take(text: string): void {
    if (this.#left < 0) return;
    const plain = plainText(text);
    const part = plain.slice(0, this.#left);
    if (part !== "") this.#sink(part);
    this.#left -= plain.length;
    if (this.#left < 0) {
      this.#sink(
        `\n(the worker printed more than ${LIMIT} characters: the rest is left out)\n`,
      );
    }
  }
}

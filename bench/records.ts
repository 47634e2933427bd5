/**
 * Events out of a stream in which kernels print as well.
 *
 * @module
 */

import { type Event, parseEvent } from "./protocol.ts";

/** Characters without a line feed after which what cannot be an event is passed on. */
const PRINTED_LIMIT = 1 << 16;

/** What is done with the parts of a stream. */
export interface RecordSinks {
  event(event: Event): void;
  /** Takes text in pieces: a line with its end, or a part of a long one. */
  printed(text: string): void;
}

/** Takes a worker's output in pieces and tells events from everything else. */
export class RecordReader {
  readonly #sinks: RecordSinks;
  #rest = "";

  /** @param sinks Called while {@linkcode RecordReader.push} or `end` runs. */
  constructor(sinks: RecordSinks) {
    this.#sinks = sinks;
  }

  /** Takes the next piece. */
  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
    if (this.#rest.length > PRINTED_LIMIT && !this.#rest.includes("\x1e")) {
      this.end();
    }
  }

  /** Passes on what had no line feed: an event that was torn when its writer died. */
  end(): void {
    if (this.#rest !== "") this.#sinks.printed(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    const found = read(line);
    if (found === undefined) return this.#sinks.printed(`${line}\n`);
    if (found.printed !== "") this.#sinks.printed(found.printed);
    this.#sinks.event(found.event);
  }
}

/** The event in a line; nothing where it has none, or one that print-outs went through. */
function read(
  line: string,
): { readonly event: Event; readonly printed: string } | undefined {
  try {
    const { event, printed } = parseEvent(line);
    return typeof event?.event === "string" ? { event, printed } : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

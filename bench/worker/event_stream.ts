/**
 * Separates events from the text that kernels print to the same stream.
 *
 * @module
 */

import { type Event, eventSchema, markOf, parseEvent } from "./protocol.ts";
import { is } from "valibot";

/** Characters without a line feed after which what cannot be an event is passed on. */
const PRINTED_LIMIT = 1 << 16;
/** Characters without a line feed after which even what begins as an event is. */
const RECORD_LIMIT = 1 << 28;

/** Takes the parts of a stream. */
export interface RecordSinks {
  event(event: Event): void;
  /** Takes text in pieces: a line with its end, or a part of a long one. */
  printed(text: string): void;
}

/** Options of reading a stream. */
export interface RecordOptions {
  /** The job's: records without it were printed by a kernel. */
  readonly nonce: string;
  /** Characters of the longest record. @default {2²⁸} */
  readonly limit?: number;
}

/** Takes a worker's output in pieces and tells events from everything else. */
export class RecordReader {
  readonly #sinks: RecordSinks;
  readonly #nonce: string;
  readonly #limit: number;
  #rest = "";
  /** True once the rest has the beginning of a record. */
  #marked = false;

  /** @param sinks Called while {@linkcode RecordReader.push} or `end` runs. */
  constructor(
    sinks: RecordSinks,
    { nonce, limit = RECORD_LIMIT }: RecordOptions,
  ) {
    this.#sinks = sinks;
    this.#nonce = nonce;
    this.#limit = limit;
  }

  /** Takes the next piece. */
  push(text: string): void {
    const lines = text.split("\n");
    const last = lines.pop()!;
    for (const line of lines) {
      this.#line(this.#rest + line);
      this.#keep("");
    }
    this.#rest += last;
    if (this.#rest.length > this.#limit) this.end();
    else if (this.#rest.length > PRINTED_LIMIT && !this.#marked) {
      this.#relieve();
    }
  }

  /** Passes on what had no line feed: an event that was torn when its writer died. */
  end(): void {
    if (this.#rest !== "") this.#sinks.printed(this.#rest);
    this.#keep("");
  }

  /** Passes on all but what is, or may become, a record. */
  #relieve(): void {
    const mark = markOf(this.#nonce);
    this.#marked = this.#rest.includes(mark);
    if (this.#marked) return;
    const tail = this.#rest.slice(1 - mark.length);
    const torn = tail.indexOf(mark[0]!);
    const kept = torn < 0 ? "" : tail.slice(torn);
    const printed = this.#rest.slice(0, this.#rest.length - kept.length);
    this.#sinks.printed(printed);
    this.#keep(kept);
  }

  #keep(rest: string): void {
    this.#rest = rest;
    this.#marked = false;
  }

  #line(line: string): void {
    const found = read(line, this.#nonce);
    if (found === undefined) return this.#sinks.printed(`${line}\n`);
    if (found.printed !== "") this.#sinks.printed(found.printed);
    this.#sinks.event(found.event);
  }
}

/** The event in a line; nothing where it has none, or one that print-outs went through. */
function read(
  line: string,
  nonce: string,
): { readonly event: Event; readonly printed: string } | undefined {
  try {
    const { value, printed } = parseEvent(line, nonce);
    return is(eventSchema, value) ? { event: value, printed } : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

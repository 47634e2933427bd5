/**
 * Writes events of a worker as records, and separates them from the text that kernels print
 * to the same stream.
 *
 * @module
 */

import { is } from "valibot";
import { revive, spell } from "../files/json_file.ts";
import { type Event, eventSchema } from "./protocol.ts";

/** Returns the beginning of each record of a worker. */
export function markOf(nonce: string): string {
  return `\x1e${nonce}`;
}

/** `event` as a record of the worker whose job has `nonce`. */
export function formatEvent(event: Event, nonce: string): string {
  return `${markOf(nonce)}${JSON.stringify(event, spell)}\n`;
}

/** Characters without a line feed after which even what begins as a record is passed on. */
const RECORD_LIMIT = 1 << 24;

/** Takes a worker's output in pieces and tells events from everything else. */
export class RecordReader {
  #rest = "";

  /**
   * @param sinks Called while {@linkcode RecordReader.push} or `end` runs; `printed` takes a
   * line with its end, or a part of a long one.
   * @param options `nonce`: the job's, as records without it were printed by a kernel;
   * `limit`: characters of the longest record.
   */
  constructor(
    readonly sinks: { event(event: Event): void; printed(text: string): void },
    readonly options: { readonly nonce: string; readonly limit?: number },
  ) {}

  /** Takes the next piece. */
  push(text: string): void {
    const lines = text.split("\n");
    const last = lines.pop()!;
    for (const line of lines) {
      this.#line(this.#rest + line);
      this.#rest = "";
    }
    this.#rest += last;
    if (this.#rest.length > (this.options.limit ?? RECORD_LIMIT)) this.end();
  }

  /** Passes on what had no line feed: an event that was torn when its writer died. */
  end(): void {
    if (this.#rest !== "") this.sinks.printed(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    const { event, printed } = read(line, this.options.nonce);
    if (printed !== "") this.sinks.printed(printed);
    if (event) this.sinks.event(event);
  }
}

/** The event in a line, if it has one that no print-out went through, and the text before it. */
function read(
  line: string,
  nonce: string,
): { readonly event?: Event; readonly printed: string } {
  const mark = markOf(nonce);
  const at = line.lastIndexOf(mark);
  const whole = { printed: `${line}\n` };
  if (at < 0) return whole;
  try {
    const event: unknown = JSON.parse(line.slice(at + mark.length), revive);
    const printed = line.slice(0, at);
    return is(eventSchema, event) ? { event, printed } : whole;
  } catch (cause) {
    if (cause instanceof SyntaxError) return whole;
    throw cause;
  }
}

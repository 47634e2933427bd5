/**
 * Ends a program whose main thread is kept busy by a suite file, from a thread: nothing else
 * can interrupt a loop. A message with a {@linkcode LastWord} starts a timer in the place of the
 * one before, and `null` stops it.
 *
 * @module
 */

import { writeAll } from "../bench/files/write_all.ts";

/** What is said of the file, and when. */
export interface LastWord {
  /** Milliseconds until then. */
  readonly ms: number;
  readonly to: "stdout" | "stderr";
  readonly text: string;
}

/** This thread, seen from itself. */
declare const self: {
  onmessage(event: { readonly data: LastWord | null }): void;
  postMessage(message: string): void;
};

let timer: ReturnType<typeof setTimeout> | undefined;
self.onmessage = ({ data }) => {
  clearTimeout(timer);
  if (data === null) return;
  const { ms, to, text } = data;
  timer = setTimeout(() => {
    writeAll(Deno[to], new TextEncoder().encode(text));
    Deno.kill(Deno.pid, "SIGKILL");
  }, ms);
};
self.postMessage("watching");

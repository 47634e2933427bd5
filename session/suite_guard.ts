/**
 * Ends a program whose main thread is kept busy by a suite file, from a thread: nothing else
 * can interrupt a loop. The name of the thread is a {@linkcode LastWord} as JSON.
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
  readonly name: string;
  postMessage(message: string): void;
};

const { ms, to, text } = JSON.parse(self.name) as LastWord;
setTimeout(() => {
  writeAll(Deno[to], new TextEncoder().encode(text));
  Deno.kill(Deno.pid, "SIGKILL");
}, ms);
self.postMessage("watching");

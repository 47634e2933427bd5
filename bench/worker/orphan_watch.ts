/**
 * Ends a worker whose parent is gone, from a thread: nothing is ever written to standard
 * input after the job, so a read returns when the last writer has ended, however it did.
 *
 * The name of the thread is the worker's process group; empty where it has none of its own.
 *
 * @module
 */

import { kill, killBelow, killMarked, MARK } from "../files/run_program.ts";

/** This thread, seen from itself. */
declare const self: {
  readonly name: string;
  postMessage(message: string): void;
};

// Before a kernel could change it.
const mark = Deno.env.get(MARK);
self.postMessage("watching");
const nothing = new Uint8Array(1);
while (Deno.stdin.readSync(nothing) !== null);
// With the compilers and peers that the worker started, and what kernels did.
if (mark) killMarked(mark);
killBelow(Deno.pid);
if (self.name !== "") kill(-Number(self.name));
kill(Deno.pid);

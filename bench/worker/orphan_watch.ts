/**
 * Ends a worker whose parent is gone, from a thread: nothing is ever written to standard
 * input after the job, so a read returns when the last writer has ended, however it did.
 *
 * @module
 */

/** This thread, seen from itself. */
declare const self: { postMessage(message: string): void };

self.postMessage("watching");
const nothing = new Uint8Array(1);
while (Deno.stdin.readSync(nothing) !== null);
try {
  // With the compilers and peers that the worker started.
  Deno.kill(-Deno.pid, "SIGKILL");
} catch (cause) {
  // Started by hand, it leads no group.
  if (!(cause instanceof Deno.errors.NotFound)) throw cause;
}
Deno.kill(Deno.pid, "SIGKILL");

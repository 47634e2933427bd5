/**
 * Ends a worker with the process that started it: the job comes in on standard
 * input, and the end of standard input is the end of the worker.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import type { Job } from "./protocol.ts";

/**
 * Reads the job, and from then on kills this process as soon as standard input ends, also
 * while a foreign call blocks it. Such a process ends by `Deno.exit` only, as a thread
 * goes on reading.
 *
 * @throws {UserError} Where there is no job.
 */
export async function receiveJob(): Promise<Job> {
  const line = readLine();
  if (line === undefined) {
    throw new UserError(
      "Cannot work without a job on standard input: workers are started by mnkbench bench",
    );
  }
  const watch = new Worker(new URL("./orphan_watch.ts", import.meta.url), {
    type: "module",
  });
  // Not before the watch stands may anything run that could block or crash.
  await new Promise((resolve, reject) => {
    watch.onmessage = resolve;
    watch.onerror = reject;
  });
  watch.onmessage = null;
  return JSON.parse(line) as Job;
}

/** The first line of standard input; nothing where it ends before the line does. */
function readLine(): string | undefined {
  const chunk = new Uint8Array(1 << 16);
  const decoder = new TextDecoder();
  let line = "";
  while (!line.endsWith("\n")) {
    const bytes = Deno.stdin.readSync(chunk);
    if (bytes === null) return undefined;
    line += decoder.decode(chunk.subarray(0, bytes), { stream: true });
  }
  return line;
}

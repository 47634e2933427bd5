/**
 * Named pipes, which tests use as files that never end.
 *
 * @module
 */

import { assertEquals } from "@std/assert";

/** Makes a named pipe at `path`. */
export function pipe(path: string): void {
  const { success } = new Deno.Command("mkfifo", { args: [path] }).outputSync();
  assertEquals(success, true);
}

/** Options of tests that Windows cannot run. */
export const posix = { ignore: Deno.build.os === "windows" };

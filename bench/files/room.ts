/**
 * Tells a disk that takes no more from other reasons for which a tool fails.
 *
 * @module
 */

import { join } from "node:path";
import { removeIfThere } from "./disk.ts";
import { makeTemporary } from "./lock.ts";

/** What systems say of such disks, in the logs of tools. */
const REFUSED =
  /No space left on device|Read-only file system|Disk quota exceeded|File too large|Cannot create temporary file/;

/** Bytes that a nearly full disk does not take. */
const ROOM = 1 << 20;

/**
 * Makes sure that `folder` and the system's temporary files had room for a tool that failed.
 *
 * @param log What the tool said.
 * @throws {Error} With the system's reason, where a file of 1 MiB cannot be written, or with the
 * line of the log that says so.
 * @throws {UserError} Where there is no place for temporary files.
 */
export function assertRoom(folder: string, log: string): void {
  using temporary = makeTemporary("mnkbench-room-");
  for (const where of [folder, temporary.path]) {
    const path = join(where, "room");
    try {
      Deno.writeFileSync(path, new Uint8Array(ROOM));
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      // Nobody asked for that file.
      throw new Error(cause.message.replace(/: writefile .*/, ""), { cause });
    }
    removeIfThere(path);
  }
  const line = log.split("\n").find((text) => REFUSED.test(text));
  if (line !== undefined) throw new Error(line.trim());
}

/** Returns whether `error` says that the operating system refused something. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}

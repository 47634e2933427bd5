/**
 * Writes bytes to a file or a stream, however many of them it takes at a time.
 *
 * @module
 */

/**
 * Writes all of `bytes` to `to`: one call may take a part of them, as where a pipe is full or a disk
 * fills. What it throws is passed on.
 */
export function writeAll(
  to: Pick<Deno.FsFile, "writeSync">,
  bytes: Uint8Array,
): void {
  for (let at = 0; at < bytes.length;) {
    at += to.writeSync(bytes.subarray(at));
  }
}

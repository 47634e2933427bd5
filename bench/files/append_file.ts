/**
 * Appends whole lines to a file.
 *
 * @module
 */

import { onDisk, readBytesIfThere } from "./disk.ts";

const LF = 0x0a;

/** A file open for appending. */
export class AppendFile implements Disposable {
  readonly #path: string;
  readonly #file: Deno.FsFile;

  /**
   * Opens `path`, making it where it is missing. Look at it with
   * {@linkcode recoverLines} first: a torn line would get the next one as its tail.
   *
   * @throws {UserError} Where the disk refuses.
   */
  constructor(path: string) {
    this.#path = path;
    this.#file = onDisk(
      path,
      () => Deno.openSync(path, { append: true, create: true }),
    );
  }

  /**
   * Adds `lines`, which end in a line feed, by one write; nothing of them stays if it
   * fails.
   *
   * @param sync Whether to wait until the disk has them.
   * @throws {UserError} Where the disk refuses.
   */
  append(lines: string, sync: boolean): void {
    const bytes = new TextEncoder().encode(lines);
    onDisk(this.#path, () => {
      const before = this.#file.statSync();
      try {
        // A disk that fills takes a part; asking for the rest gives the reason.
        for (let at = 0; at < bytes.length;) {
          at += this.#file.writeSync(bytes.subarray(at));
        }
        if (sync) this.#file.syncSync();
      } catch (cause) {
        if (before.isFile) this.#file.truncateSync(before.size);
        throw cause;
      }
    });
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/**
 * Reads the whole lines of the file at `path`, of which a torn last one is cut off for good;
 * empty where there is no file.
 *
 * @throws {UserError} Where the disk refuses.
 */
export function recoverLines(path: string): string {
  const bytes = readBytesIfThere(path) ?? new Uint8Array();
  const whole = bytes.lastIndexOf(LF) + 1;
  if (whole < bytes.length) {
    onDisk(path, () => Deno.truncateSync(path, whole));
  }
  return new TextDecoder().decode(bytes.subarray(0, whole));
}

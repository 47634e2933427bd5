/**
 * Reads files, and adds to them, on disks that may be full, read-only or about to lose power.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import { writeAll } from "./write_all.ts";
import { isUtf8 } from "node:buffer";

/**
 * Runs `work`; a refusal by the operating system becomes a line that a person can
 * act on.
 *
 * @param path What was being written.
 * @throws {UserError} Where `work` throws anything.
 */
export function onDisk<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** A refusal of the operating system to write something. */
export class WriteError extends UserError {}

/** Makes the error of `cause`, which came up while `path` was written. */
export function unwritable(path: string, cause: unknown): UserError {
  if (cause instanceof UserError) return cause;
  return new WriteError(
    cause instanceof Deno.errors.NotFound
      ? `Cannot write ${path}: its folder is not there; make it or name another`
      : `Cannot write ${path}: ${
        saidBy(cause)
      }; make room, make the folder writable or name another`,
  );
}

/** Returns what `cause` says, which was thrown where a file was opened. */
export function saidBy(cause: unknown): string {
  const said = cause instanceof Error ? cause.message : `${cause}`;
  // No permission of a task would help, as the text of Deno has it.
  return /^Requires all access to /.test(said)
    ? "it is a device, or in a folder of the system's own such as /dev and /proc"
    : said;
}

/**
 * The bytes at `path`, or nothing where there is no file.
 *
 * @param most The bytes of the longest file that is read.
 * @throws {UserError} Where there is one that is longer or cannot be read, or a device or a
 * pipe, which may never end.
 */
export function readBytesIfThere(
  path: string,
  most: number = Infinity,
): Uint8Array<ArrayBuffer> | undefined {
  return readable(path, () =>
    unlessMissing(() => {
      const { isFile, isDirectory, size } = Deno.statSync(path);
      if (size > most) {
        throw new UserError(
          `Cannot read ${path}: it has more than ${most} bytes; move it away`,
        );
      }
      if (isFile) return Deno.readFileSync(path);
      throw new UserError(
        `Cannot read ${path}: it is ${
          isDirectory
            ? "a folder; name a file, or move it away"
            : "not a regular file; move it away"
        }`,
      );
    }));
}

/**
 * Runs `work`, which reads `path`; a refusal by the operating system becomes one line.
 *
 * @throws {UserError} Where `work` throws anything.
 */
export function readable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `Cannot read ${path}: ${
        saidBy(cause)
      }; make it readable, move it away or name another`,
    );
  }
}

/**
 * The text at `path`, or nothing where there is no file.
 *
 * @throws {UserError} Where there is one that cannot be read, or is too long for a text.
 */
export function readIfThere(path: string): string | undefined {
  const bytes = readBytesIfThere(path);
  return bytes && readable(path, () => new TextDecoder().decode(bytes));
}

/** Removes a file or a whole folder. */
export function removeIfThere(path: string): void {
  unlessMissing(() => Deno.removeSync(path, { recursive: true }));
}

/** Runs `work`; returns nothing where it finds no file. */
export function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw cause;
  }
}

/**
 * The text at `path`, or nothing where there is no file.
 *
 * @param wayOut What errors about its content end with.
 * @throws {UserError} Where there is one that cannot be read; with the line, for one that
 * is no UTF-8 or has a NUL.
 */
export function readUtf8IfThere(
  path: string,
  wayOut: string,
): string | undefined {
  const text = readIfThere(path);
  // Decoding replaced what is no UTF-8; the sign for that may also stand in the file.
  if (text !== undefined && /[\0\ufffd]/.test(text)) {
    refuseBadUtf8(path, wayOut);
  }
  return text;
}

/** Checks the encoding of a file. @throws {UserError} Naming the line that is no UTF-8 or has a NUL. */
export function refuseBadUtf8(path: string, wayOut: string): void {
  const bytes = readBytesIfThere(path) ?? new Uint8Array();
  const text = new TextDecoder().decode(bytes);
  const strange = text.search(isUtf8(bytes) ? /\0/ : /[\0\ufffd]/);
  if (strange < 0) return;
  const line = text.slice(0, strange).split("\n").length;
  throw new UserError(
    `Cannot read ${path}: line ${line} is not UTF-8 text; ${wayOut}`,
  );
}

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
        writeAll(this.#file, bytes);
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

/**
 * Texts of which no byte may be lost by reading them.
 *
 * @module
 */

import { readBytesIfThere, readIfThere } from "./disk.ts";
import { UserError } from "../model/errors.ts";

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
  if (text === undefined || !(text.includes("\0") || text.includes("\ufffd"))) {
    return text;
  }
  refuseBadUtf8(path, wayOut);
  return text;
}

/** @throws {UserError} With the line, where the file at `path` is no UTF-8 or has a NUL. */
export function refuseBadUtf8(path: string, wayOut: string): void {
  const line = badLine(readBytesIfThere(path) ?? new Uint8Array());
  if (line === undefined) return;
  throw new UserError(
    `Cannot read ${path}: line ${line} is not UTF-8 text; ${wayOut}`,
  );
}

/** The first line with a NUL or with bytes that are no UTF-8, if there is one. */
function badLine(bytes: Uint8Array): number | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed < 0 ? bytes.length : feed;
    try {
      if (decoder.decode(bytes.subarray(start, end)).includes("\0")) {
        return line;
      }
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      return line;
    }
    start = end + 1;
  }
}

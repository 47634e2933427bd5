/**
 * Words in a PNG: which drawing it is of.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** Signature, and the chunk IHDR with its length, name and checksum. */
const HEAD = 8 + 4 + 4 + 13 + 4;
const KEYWORD = "mnkbench";

/** What stands in a PNG of the drawing that `svg` is. */
export function drawingOf(svg: string): string {
  return createHash("sha256").update(svg).digest("hex");
}

/** `png` with `drawing` written into it, as PNG's tEXt chunk. */
export function withDrawing(
  png: Uint8Array,
  drawing: string,
): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(`tEXt${KEYWORD}\0${drawing}`, "latin1");
  const chunk = Buffer.alloc(4 + content.length + 4);
  chunk.writeUInt32BE(content.length - 4, 0);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), 4 + content.length);
  return new Uint8Array(
    Buffer.concat([png.subarray(0, HEAD), chunk, png.subarray(HEAD)]),
  );
}

/** What {@linkcode withDrawing} wrote into `png`; nothing in another file. */
export function drawingIn(png: Uint8Array): string | undefined {
  const text = Buffer.from(png.subarray(HEAD, HEAD + 128)).toString("latin1");
  return /^.{4}tEXtmnkbench\0([0-9a-f]{64})/s.exec(text)?.[1];
}

/**
 * Codes of a few bits each as a stream, the least significant bit first: MLX's packing.
 *
 * Read as little-endian 32-bit words, a code of a power-of-two width never crosses a
 * word; 3 and 5 bits are 8 codes in 3 and 5 bytes, 6 bits 4 codes in 3 bytes.
 *
 * @module
 */

/**
 * `codes` of `bits` bits each; the last byte is filled up with zeros.
 *
 * @example
 * ```ts
 * import { packBits } from "./bitstream.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual([...packBits([1, 2, 3], 3)], [0b11_010_001, 0b0]);
 * deepStrictEqual([...packBits([0x1, 0x7], 4)], [0x71]);
 * ```
 */
export function packBits(
  codes: ArrayLike<number>,
  bits: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(codes.length * bits / 8));
  let [held, count, at] = [0, 0, 0];
  for (let i = 0; i < codes.length; i++) {
    held |= codes[i]! << count;
    for (count += bits; count >= 8; count -= 8) {
      bytes[at++] = held;
      held >>>= 8;
    }
  }
  if (count > 0) bytes[at] = held;
  return bytes;
}

/** The first `count` codes of `bits` bits, at most 8, in `bytes`. */
export function unpackBits(
  bytes: Uint8Array,
  bits: number,
  count: number,
): Uint8Array<ArrayBuffer> {
  const codes = new Uint8Array(count);
  const mask = (1 << bits) - 1;
  let [held, have, at] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    if (have < bits) {
      held |= bytes[at++]! << have;
      have += 8;
    }
    codes[i] = held & mask;
    held >>>= bits;
    have -= bits;
  }
  return codes;
}

/**
 * Input data of {@linkcode groupedMatmul}, as stored: made a word at a time, since the
 * largest lists have 10⁸ bytes.
 *
 * @module
 */

import {
  blockedPlace,
  type ScaleShape,
} from "../../bench/formats/blocked_scales.ts";
import { type InputOptions, mix } from "../../bench/model/inputs.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of tensor number `tensor`: `of` each word of the generator of `bench/model/inputs.ts`. */
function made(
  { seed }: InputOptions,
  { tensor, bytes, of }: {
    tensor: number;
    bytes: number;
    of: (word: number) => number;
  },
): Bytes {
  const key = mix(mix(seed >>> 0) + Math.imul(tensor + 1, 0x9e3779b9) | 0);
  const words = new Uint32Array(Math.ceil(bytes / 4));
  for (let i = 0; i < words.length; i++) words[i] = of(mix(i ^ key));
  return new Uint8Array(words.buffer, 0, bytes);
}

/**
 * Packed codes. `normal` fill are the competition's ±{0, 0.5, 1, 1.5}, bit 2 of each
 * nibble cleared; other fills have all sixteen codes.
 */
export function codes(
  options: InputOptions,
  tensor: number,
  bytes: number,
): Bytes {
  const mask = options.fill === "normal" ? 0xbbbbbbbb : 0xffffffff;
  return made(options, { tensor, bytes, of: (word) => word & mask });
}

/**
 * Blocked E4M3 scales, padding 0. `normal` fill are the competition's 1 and 2; other fills
 * have all mantissas from 0.5 to 3.75.
 */
export function scales(
  options: InputOptions,
  tensor: number,
  { rows, cols }: ScaleShape,
): Bytes {
  const [high, wide] = [Math.ceil(rows / 128) * 128, Math.ceil(cols / 4) * 4];
  const of = options.fill === "normal"
    ? (word: number) => 0x38383838 + 8 * (word & 0x01010101)
    : (word: number) =>
      0x30303030 + (word & 0x0f0f0f0f) + 8 * (word >>> 4 & 0x01010101);
  const bytes = made(options, { tensor, bytes: high * wide, of });
  if (rows === high && cols === wide) return bytes;
  for (let i = 0; i < bytes.length; i++) {
    const { row, col } = blockedPlace(i, cols);
    if (row >= rows || col >= cols) bytes[i] = 0;
  }
  return bytes;
}

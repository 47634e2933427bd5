/**
 * Rows of an NVFP4 matrix as the numbers that they stand for: two codes a byte, scales of
 * 16 elements in the blocked layout.
 *
 * @module
 */

import { blockedOffset } from "../../bench/formats/blocked_scales.ts";
import { e2m1, e4m3 } from "../../bench/formats/minifloat.ts";
import { BLOCK } from "./point.ts";

/** A stored matrix of `rows` of `k`. */
export interface Nvfp4 {
  readonly codes: Uint8Array;
  readonly scales: Uint8Array;
  readonly k: number;
}

/** The values of row `row`. NaN scales give NaN. */
export function rowOf(
  { codes, scales, k }: Nvfp4,
  row: number,
): Float64Array<ArrayBuffer> {
  const values = new Float64Array(k);
  const start = row * k / 2;
  const blocks = k / BLOCK;
  for (let block = 0; block < blocks; block++) {
    const scale = e4m3.values[scales[blockedOffset(row, block, blocks)]!]!;
    for (let i = block * BLOCK; i < (block + 1) * BLOCK; i += 2) {
      const byte = codes[start + i / 2]!;
      values[i] = scale * e2m1.values[byte & 15]!;
      values[i + 1] = scale * e2m1.values[byte >> 4]!;
    }
  }
  return values;
}

/**
 * Input data from a counter-based generator: element `i` of tensor `t` depends on the
 * seed, `t` and `i` alone, and only on integer arithmetic, so that any language on any
 * device makes the same bits.
 *
 * @module
 */

import { type DType, encode } from "./dtype.ts";

/** The distributions of input data. */
export const FILLS = ["normal", "uniform", "integers"] as const;
/**
 * `normal`: a sum of 12 uniforms less 6, standard normal to within its 20 bits, |x| < 6
 * (Irwin–Hall); `uniform`: multiples of 2⁻²⁰ in [-1, 1); `integers`: -4 to 4.
 */
export type Fill = typeof FILLS[number];

/** Selects the inputs of a run. */
export interface InputOptions {
  readonly seed: number;
  readonly fill: Fill;
}

/** A bijection of 32-bit integers with full avalanche (Ellis, "lowbias32", 2018). */
export function mix(x: number): number {
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  return (x ^ x >>> 16) >>> 0;
}

/**
 * Generates `count` values of tensor number `tensor` from element `from` on. All are multiples
 * of 2⁻²⁰ below 8 in magnitude, so fp32 holds them exactly, and TF32 does not: a kernel
 * that multiplies fp32 operands as TF32 fails its check.
 */
export function values(
  { seed, fill }: InputOptions,
  tensor: number,
  count: number,
  from = 0,
): Float64Array<ArrayBuffer> {
  const key = mix(mix(seed >>> 0) + Math.imul(tensor + 1, 0x9e3779b9) | 0);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let h = mix(from + i ^ key);
    if (fill === "normal") {
      // The chain is a second generator started at h: six words, twelve halves.
      let sum = 0;
      for (let j = 0; j < 6; j++) {
        sum += (h & 0xffff) + (h >>> 16);
        h = mix(h + 0x9e3779b9 | 0);
      }
      out[i] = (sum - 393210) / 65536;
    } else if (fill === "uniform") out[i] = ((h >>> 11) - 1048576) / 1048576;
    else out[i] = h % 9 - 4;
  }
  return out;
}

/** Generates `count` values of tensor number `tensor`, rounded to `type`, as stored bytes. */
export function stored(
  options: InputOptions,
  tensor: number,
  { count, type }: { count: number; type: DType },
): Uint8Array<ArrayBuffer> {
  return encode(values(options, tensor, count), type);
}

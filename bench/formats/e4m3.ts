/**
 * E4M3, the element of MXFP8 and the scale of NVFP4: no infinity, one magnitude for NaN,
 * ±448 at most.
 *
 * Source: OCP 8-bit Floating Point Specification (OFP8) 1.0, table 1.
 *
 * @module
 */

import { type Codec, codecOf } from "./minifloat.ts";

/** The largest magnitude. */
export const E4M3_MAX = 448;

/** Bias 7; 0x7e is 448, 0x7f NaN. */
export const e4m3: Codec = codecOf({
  exponent: 4,
  mantissa: 3,
  bias: 7,
  max: E4M3_MAX,
  nan: 0x7f,
});

/**
 * E5M2: as IEEE 754 would have it, with infinities; conversion saturates.
 *
 * Source: OCP 8-bit Floating Point Specification (OFP8) 1.0, table 1 and section 5.2.
 *
 * @module
 */

import { type Codec, codecOf } from "./minifloat.ts";

/** The largest finite magnitude. */
export const E5M2_MAX = 57344;

/** Bias 15; 0x7b is 57344, 0x7c infinity, 0x7d to 0x7f NaN. */
export const e5m2: Codec = codecOf({
  exponent: 5,
  mantissa: 2,
  bias: 15,
  max: E5M2_MAX,
  nan: 0x7e,
  infinity: 0x7c,
});

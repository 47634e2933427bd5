/**
 * E2M1, the element of MXFP4 and NVFP4: sign, two bits of exponent, one of mantissa;
 * neither infinity nor NaN.
 *
 * Source: OCP Microscaling Formats (MX) 1.0, section 5.3.3. MLX rounds and saturates the
 * same way (`fp4.h`): ties to even, |x| > 5 to 6, NaN to code 7.
 *
 * @module
 */

import { type Codec, codecOf } from "./minifloat.ts";

/** The largest magnitude. */
export const E2M1_MAX = 6;

/** 0, 0.5, 1, 1.5, 2, 3, 4, 6 as codes 0 to 7, and their negatives as 8 to 15. */
export const e2m1: Codec = codecOf({
  exponent: 2,
  mantissa: 1,
  bias: 1,
  max: E2M1_MAX,
});

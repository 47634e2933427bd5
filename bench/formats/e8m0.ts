/**
 * E8M0, the scale of the MX formats: a power of two without sign or mantissa, 2^(code -
 * 127); 255 is NaN.
 *
 * OCP leaves open how a scale is rounded to a power of two, so each rule has its name.
 *
 * @module
 */

/** The code of NaN. */
export const E8M0_NAN = 255;

/** The value of every code. */
export const E8M0_VALUES: Float64Array<ArrayBuffer> = Float64Array.from(
  { length: 256 },
  (_, code) => code === E8M0_NAN ? NaN : 2 ** (code - 127),
);

/**
 * The power of two nearest to `x` in its logarithm: MLX's rule, round(log2 x).
 *
 * Exact: √½ is no double, and the nearest one to it lies above, so no tie can arise. NaN, infinity and what is negative give
 * NaN's code; 0 gives 2^-127.
 */
export function encodeE8m0(x: number): number {
  return encodeBy(x, (mantissa) => mantissa >= Math.SQRT1_2 ? 1 : 0);
}

/**
 * The least power of two that is not below `x`: cuBLAS's rule for the scales that it
 * writes, with which no element saturates.
 */
export function encodeE8m0Up(x: number): number {
  return encodeBy(x, (mantissa) => mantissa > 0.5 ? 1 : 0);
}

/** The greatest power of two that is not above `x`: OCP MX 1.0, section 6.3. */
export function encodeE8m0Down(x: number): number {
  return encodeBy(x, () => 0);
}

const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);

/** `up` takes a mantissa in [0.5, 1) and says what to add to the exponent. */
function encodeBy(x: number, up: (mantissa: number) => 0 | 1): number {
  if (!Number.isFinite(x) || x < 0) return E8M0_NAN;
  scratch[0] = x;
  const exponent = (words[1]! >>> 20 & 0x7ff) - 1023;
  if (exponent < -128) return 0;
  words[1] = words[1]! & 0xfffff | 1022 << 20;
  return Math.min(254, Math.max(0, exponent + up(scratch[0]!) + 127));
}

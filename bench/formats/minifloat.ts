/**
 * Binary floats of at most eight bits, E2M1, E4M3, E5M2 and E8M0, and codes packed as bits.
 *
 * @module
 */

/** A small binary float: bits of its parts, and what its top exponent means. */
interface Minifloat {
  readonly exponent: number;
  readonly mantissa: number;
  readonly bias: number;
  /** The largest finite magnitude: encoding saturates to it. */
  readonly max: number;
  /** The code of NaN without its sign; none for E2M1. */
  readonly nan?: number;
  /** The code of infinity without its sign; none where the format has no infinity. */
  readonly infinity?: number;
}

/** A format as a table to read and a function to write. */
export interface Codec {
  /** The largest finite magnitude. */
  readonly max: number;
  /** The value of every code. */
  readonly values: Float64Array<ArrayBuffer>;
  /**
   * The code of the double `x`, rounded once to nearest even, saturated to the largest
   * magnitude. NaN becomes the format's, and without one the largest magnitude.
   */
  readonly encode: (x: number) => number;
}

function codecOf(format: Minifloat): Codec {
  const { exponent, mantissa, bias, max } = format;
  const sign = 1 << exponent + mantissa;
  const nan = format.nan ?? sign - 1;
  const top = (format.infinity ?? format.nan ?? sign) - 1;
  // For each exponent field, what makes the unit of the last place 1.
  const units = Float64Array.from(
    { length: 1 << exponent },
    (_, field) => 2 ** (mantissa + bias - Math.max(field, 1)),
  );
  const encode = (x: number): number => {
    if (x !== x) return nan;
    scratch[0] = x;
    // The upper half of a double: sign, exponent, and the mantissa's first bits.
    const high = words[1]!;
    const negative = high >>> 31 ? sign : 0;
    const magnitude = Math.abs(x);
    if (magnitude >= max) return negative | top;
    const field = Math.max((high >>> 20 & 0x7ff) - 1023 + bias, 1);
    // Ties to even. A carry out of the mantissa moves into the exponent by itself.
    const steps = magnitude * units[field]! + WHOLE - WHOLE;
    return negative | steps + (field - 1 << mantissa);
  };
  const values = Float64Array.from(
    { length: 2 * sign },
    (_, code) => decode(code, format),
  );
  return { max, values, encode };
}

const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);
/** A sum with it is rounded to a whole number. */
const WHOLE = 2 ** 52;

function decode(code: number, f: Minifloat): number {
  const bits = f.exponent + f.mantissa;
  const sign = code >> bits & 1 ? -1 : 1;
  const magnitude = code & (1 << bits) - 1;
  if (f.nan !== undefined && magnitude > (f.infinity ?? f.nan - 1)) return NaN;
  if (magnitude === f.infinity) return sign * Infinity;
  const e = magnitude >> f.mantissa;
  const fraction = (magnitude & (1 << f.mantissa) - 1) / (1 << f.mantissa);
  return e === 0
    ? sign * fraction * 2 ** (1 - f.bias)
    : sign * (1 + fraction) * 2 ** (e - f.bias);
}

/**
 * E2M1, the element of MXFP4 and NVFP4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 as codes 0 to 7, and their
 * negatives as 8 to 15; neither infinity nor NaN.
 *
 * Source: OCP Microscaling Formats (MX) 1.0, section 5.3.3. MLX rounds and saturates the
 * same way (`fp4.h`): ties to even, |x| > 5 to 6, NaN to code 7.
 */
export const e2m1: Codec = codecOf({
  exponent: 2,
  mantissa: 1,
  bias: 1,
  max: 6,
});

/**
 * E4M3, the element of MXFP8 and the scale of NVFP4: bias 7, no infinity; 0x7e is 448, 0x7f
 * NaN.
 *
 * Source: OCP 8-bit Floating Point Specification (OFP8) 1.0, table 1.
 */
export const e4m3: Codec = codecOf({
  exponent: 4,
  mantissa: 3,
  bias: 7,
  max: 448,
  nan: 0x7f,
});

/**
 * E5M2: bias 15, as IEEE 754 would have it; 0x7b is 57344, 0x7c infinity, 0x7d to 0x7f NaN.
 * Conversion saturates.
 *
 * Source: OCP 8-bit Floating Point Specification (OFP8) 1.0, table 1 and section 5.2.
 */
export const e5m2: Codec = codecOf({
  exponent: 5,
  mantissa: 2,
  bias: 15,
  max: 57344,
  nan: 0x7e,
  infinity: 0x7c,
});

const E8M0_NAN = 255;

/**
 * The value of every code of E8M0, the scale of the MX formats: a power of two without sign
 * or mantissa, 2^(code - 127); 255 is NaN.
 */
export const E8M0_VALUES: Float64Array<ArrayBuffer> = Float64Array.from(
  { length: 256 },
  (_, code) => code === E8M0_NAN ? NaN : 2 ** (code - 127),
);

/**
 * Returns the code of the power of two nearest to `x` in its logarithm: MLX's rule,
 * round(log2 x).
 *
 * Exact: √½ is no double, and the nearest one to it lies above, so no tie can arise. NaN,
 * infinity and negative numbers give NaN's code; 0 gives 2^-127.
 */
export function encodeE8m0(x: number): number {
  if (!Number.isFinite(x) || x < 0) return E8M0_NAN;
  scratch[0] = x;
  const exponent = (words[1]! >>> 20 & 0x7ff) - 1023;
  if (exponent < -128) return 0;
  // The mantissa alone, in [0.5, 1).
  words[1] = words[1]! & 0xfffff | 1022 << 20;
  const up = scratch[0]! >= Math.SQRT1_2 ? 1 : 0;
  return Math.min(254, Math.max(0, exponent + up + 127));
}

/**
 * Packs `codes` of `bits` bits each as a stream, the least significant bit first, as MLX
 * does; the last byte is filled up with zeros.
 *
 * Read as little-endian 32-bit words, a code of a power-of-two width never crosses a word; 3
 * and 5 bits are 8 codes in 3 and 5 bytes, 6 bits 4 codes in 3 bytes.
 *
 * @example
 * ```ts
 * import { packBits } from "./minifloat.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([...packBits([1, 2, 3], 3)], [0b11_010_001, 0b0]);
 * assertEquals([...packBits([0x1, 0x7], 4)], [0x71]);
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

/** Returns the first `count` codes of `bits` bits, at most 8, in `bytes`. */
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

/**
 * Binary floats of at most eight bits: E2M1, E4M3, E5M2 and E8M0.
 *
 * @module
 */

/** A small binary float: bits of its parts, and what its top exponent means. */
export interface Minifloat {
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
  /** The value of every code. */
  readonly values: Float64Array<ArrayBuffer>;
  /**
   * The code of the double `x`, rounded once to nearest even, saturated to the largest
   * magnitude. NaN becomes the format's, and without one the largest magnitude.
   */
  readonly encode: (x: number) => number;
}

/** Makes the values and the encoder of `format`. */
export function codecOf(format: Minifloat): Codec {
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
  return { values, encode };
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

/** The largest magnitude of E2M1. */
export const E2M1_MAX = 6;

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
  max: E2M1_MAX,
});

/** The largest magnitude of E4M3. */
export const E4M3_MAX = 448;

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
  max: E4M3_MAX,
  nan: 0x7f,
});

/** The largest finite magnitude of E5M2. */
export const E5M2_MAX = 57344;

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
  max: E5M2_MAX,
  nan: 0x7e,
  infinity: 0x7c,
});

/** The code of E8M0's NaN. */
export const E8M0_NAN = 255;

/**
 * The value of every code of E8M0, the scale of the MX formats: a power of two without sign
 * or mantissa, 2^(code - 127); 255 is NaN. OCP leaves open how a scale is rounded to a power
 * of two, so each rule below has its name.
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
  return encodeBy(x, (mantissa) => mantissa >= Math.SQRT1_2 ? 1 : 0);
}

/**
 * Returns the code of the least power of two that is not below `x`: cuBLAS's rule for the scales that it
 * writes, with which no element saturates.
 */
export function encodeE8m0Up(x: number): number {
  return encodeBy(x, (mantissa) => mantissa > 0.5 ? 1 : 0);
}

/** Returns the code of the greatest power of two not above `x`: OCP MX 1.0, section 6.3. */
export function encodeE8m0Down(x: number): number {
  return encodeBy(x, () => 0);
}

/** `up` takes a mantissa in [0.5, 1) and says what to add to the exponent. */
function encodeBy(x: number, up: (mantissa: number) => 0 | 1): number {
  if (!Number.isFinite(x) || x < 0) return E8M0_NAN;
  scratch[0] = x;
  const exponent = (words[1]! >>> 20 & 0x7ff) - 1023;
  if (exponent < -128) return 0;
  words[1] = words[1]! & 0xfffff | 1022 << 20;
  return Math.min(254, Math.max(0, exponent + up(scratch[0]!) + 127));
}

/**
 * Packs two 4-bit `codes` a byte, the low nibble first, as MLX, PyTorch
 * (`float4_e2m1fn_x2`) and cuBLAS store them; the last byte's high nibble is 0 where there is no pair.
 *
 * @example
 * ```ts
 * import { packNibbles } from "./minifloat.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([...packNibbles([0x1, 0x7, 0xf])], [0x71, 0x0f]);
 * ```
 */
export function packNibbles(
  codes: ArrayLike<number>,
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    { length: Math.ceil(codes.length / 2) },
    (_, i) => codes[2 * i]! & 15 | (codes[2 * i + 1] ?? 0) << 4,
  );
}

/** Returns the codes in `bytes`, two each. */
export function unpackNibbles(
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const codes = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    codes[2 * i] = bytes[i]! & 15;
    codes[2 * i + 1] = bytes[i]! >> 4;
  }
  return codes;
}

/**
 * Binary floats of at most eight bits.
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

/** The values and the encoder of `format`. */
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

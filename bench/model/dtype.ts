/**
 * Data types of operands, with exact conversion to and from `number`.
 *
 * Encoding rounds to nearest, ties to even, once: from the double given, not by way of
 * fp32. Sources: IEEE 754-2019 for f64, f32, f16; bfloat16 as the upper half of f32;
 * OCP 8-bit Floating Point Specification (OFP8) 1.0 for e4m3 and e5m2; OCP Microscaling
 * Formats (MX) 1.0 for e2m1 and e8m0.
 *
 * @module
 */

import {
  e2m1,
  e4m3,
  e5m2,
  E8M0_VALUES,
  encodeE8m0,
  packBits,
} from "../formats/minifloat.ts";

const CODECS = { e4m3, e5m2 } as const;

/** A data type; `e2m1x2` is two 4-bit floats a byte, the low nibble first. */
export type DType =
  | "f64"
  | "f32"
  | "f16"
  | "bf16"
  | "e4m3"
  | "e5m2"
  | "e2m1x2"
  | "e8m0"
  | "i32"
  | "u32"
  | "u8";

/** Bytes of one stored element of each type; a pair is one element of `e2m1x2`. */
export const BYTES: Readonly<Record<DType, number>> = {
  f64: 8,
  f32: 4,
  f16: 2,
  bf16: 2,
  e4m3: 1,
  e5m2: 1,
  e2m1x2: 1,
  e8m0: 1,
  i32: 4,
  u32: 4,
  u8: 1,
};

/** Significant bits of the types that kernels round to, the implicit one included. */
export const SIGNIFICANT_BITS = { f64: 53, f32: 24, f16: 11, bf16: 8 } as const;

/**
 * Decodes `bytes` to doubles, exactly. `e2m1x2` gives two values a byte.
 *
 * @example
 * ```ts
 * import { decode } from "./dtype.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual([...decode(new Uint8Array([0x80, 0x3f]), "bf16")], [1]);
 * ```
 */
export function decode(
  bytes: Uint8Array<ArrayBuffer>,
  type: DType,
): Float64Array<ArrayBuffer> {
  switch (type) {
    case "f64":
      return viewOf(bytes, Float64Array);
    case "f32":
      return new Float64Array(viewOf(bytes, Float32Array));
    case "f16":
      return new Float64Array(viewOf(bytes, Float16Array));
    case "bf16": {
      const codes = viewOf(bytes, Uint16Array);
      const wide = new Uint32Array(codes.length);
      for (let i = 0; i < codes.length; i++) wide[i] = codes[i]! << 16;
      return new Float64Array(new Float32Array(wide.buffer));
    }
    case "i32":
      return new Float64Array(viewOf(bytes, Int32Array));
    case "u32":
      return new Float64Array(viewOf(bytes, Uint32Array));
    case "u8":
      return new Float64Array(bytes);
    case "e8m0":
      return looked(bytes, E8M0_VALUES);
    case "e2m1x2": {
      const values = new Float64Array(2 * bytes.length);
      for (let i = 0; i < bytes.length; i++) {
        values[2 * i] = e2m1.values[bytes[i]! & 15]!;
        values[2 * i + 1] = e2m1.values[bytes[i]! >> 4]!;
      }
      return values;
    }
    default:
      return looked(bytes, CODECS[type].values);
  }
}

/** The value of each code, by a loop: `Float64Array.from()` takes 20 times as long. */
function looked(
  codes: Uint8Array,
  values: Float64Array,
): Float64Array<ArrayBuffer> {
  const out = new Float64Array(codes.length);
  for (let i = 0; i < codes.length; i++) out[i] = values[codes[i]!]!;
  return out;
}

/** Returns a function that decodes single values, as {@linkcode decode} decodes all. */
export function reader(
  bytes: Uint8Array<ArrayBuffer>,
  type: DType,
): (index: number) => number {
  switch (type) {
    case "f32": {
      const values = viewOf(bytes, Float32Array);
      return (i) => values[i]!;
    }
    case "f16": {
      const values = viewOf(bytes, Float16Array);
      return (i) => values[i]!;
    }
    case "bf16": {
      const codes = viewOf(bytes, Uint16Array);
      const wide = new Uint32Array(1);
      const value = new Float32Array(wide.buffer);
      return (i) => {
        wide[0] = codes[i]! << 16;
        return value[0]!;
      };
    }
    case "e4m3":
    case "e5m2": {
      const { values } = CODECS[type];
      return (i) => values[bytes[i]!]!;
    }
    default: {
      const values = decode(bytes, type);
      return (i) => values[i]!;
    }
  }
}

/** Elements `first`, `first` + `step`, ... of a matrix or vector, `count` of them. */
export interface Picked {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/**
 * Returns a function that decodes some elements, exactly: those of types within fp32 as fp32, which
 * takes less time and room than {@linkcode decode}.
 */
export function picker(
  bytes: Uint8Array<ArrayBuffer>,
  type: DType,
): (picked: Picked) => Float32Array | Float64Array {
  switch (type) {
    case "f32":
      return pickerOf(viewOf(bytes, Float32Array));
    case "f16":
      return pickerOf(viewOf(bytes, Float16Array));
    case "bf16": {
      const codes = viewOf(bytes, Uint16Array);
      return ({ first, step, count }) => {
        const wide = new Uint32Array(count);
        for (let i = 0; i < count; i++) {
          wide[i] = codes[first + i * step]! << 16;
        }
        return new Float32Array(wide.buffer);
      };
    }
    default: {
      const read = reader(bytes, type);
      return ({ first, step, count }) => {
        const values = new Float64Array(count);
        for (let i = 0; i < count; i++) values[i] = read(first + i * step);
        return values;
      };
    }
  }
}

function pickerOf(stored: Float32Array | Float16Array) {
  return ({ first, step, count }: Picked): Float32Array => {
    const values = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      values[i] = stored[first + i * step]!;
    }
    return values;
  };
}

/**
 * Encodes `values` as stored bytes, each rounded once to nearest, ties to even.
 *
 * fp32, fp16 and bf16 overflow to infinity; e5m2, e4m3 and e2m1 saturate to their
 * largest magnitude, as OCP's saturating mode does. e8m0 takes the nearest power of two.
 */
export function encode(
  values: ArrayLike<number>,
  type: DType,
): Uint8Array<ArrayBuffer> {
  switch (type) {
    case "f64":
      return new Uint8Array(Float64Array.from(values).buffer);
    case "f32":
      return new Uint8Array(Float32Array.from(values).buffer);
    case "f16": {
      const codes = new Uint16Array(Float16Array.from(values).buffer);
      // An engine may keep a NaN's sign and payload: one code, as in the other types.
      for (let i = 0; i < codes.length; i++) {
        if ((codes[i]! & 0x7fff) > 0x7c00) codes[i] = 0x7e00;
      }
      return new Uint8Array(codes.buffer);
    }
    case "bf16": {
      const codes = new Uint16Array(values.length);
      for (let i = 0; i < codes.length; i++) codes[i] = toBf16(values[i]!);
      return new Uint8Array(codes.buffer);
    }
    case "i32":
      return new Uint8Array(Int32Array.from(values).buffer);
    case "u32":
      return new Uint8Array(Uint32Array.from(values).buffer);
    case "u8":
      return Uint8Array.from(values);
    case "e8m0":
      return Uint8Array.from(values, encodeE8m0);
    case "e2m1x2":
      return packBits(Uint8Array.from(values, e2m1.encode), 4);
    default: {
      const codes = new Uint8Array(values.length);
      const code = CODECS[type].encode;
      for (let i = 0; i < codes.length; i++) codes[i] = code(values[i]!);
      return codes;
    }
  }
}

/** `bytes` as elements of `View`, copied only where they do not start at a multiple of their size. */
function viewOf<T>(
  bytes: Uint8Array<ArrayBuffer>,
  View: {
    readonly BYTES_PER_ELEMENT: number;
    new (buffer: ArrayBuffer, offset: number, length: number): T;
  },
): T {
  const { BYTES_PER_ELEMENT: size } = View;
  const { buffer, byteOffset } = bytes.byteOffset % size === 0
    ? bytes
    : bytes.slice();
  return new View(buffer, byteOffset, bytes.length / size);
}

const single = new Float32Array(1);
const word = new Int32Array(single.buffer);

function toBf16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  // Rounded to odd in fp32 first: the bits below bf16 then still tell a tie from what
  // lies beside it, and the second rounding cannot go wrong (Boldo & Melquiond 2008).
  const near = Math.fround(value);
  single[0] = near;
  let bits = word[0]!;
  if (near !== value && Number.isFinite(near)) {
    if (Math.abs(near) > Math.abs(value)) bits--;
    bits |= 1;
  }
  return (bits + 0x7fff + (bits >>> 16 & 1)) >>> 16;
}

/**
 * Converts rows of weights to and from MLX's quantised formats, bit for bit.
 *
 * @module
 */

import { decode, encode } from "../model/dtype.ts";
import { demandGroups, type QuantFormat } from "./quant_format.ts";
import {
  type Codec,
  e2m1,
  e4m3,
  E8M0_VALUES,
  encodeE8m0,
  packBits,
  unpackBits,
} from "./minifloat.ts";

/** The types that affine scales and biases are stored in: that of the weights. */
type ScaleType = "f16" | "bf16";

/** Stored weights. */
interface Quantised {
  /** Codes by {@linkcode packBits}; viewed as little-endian u32 words by kernels. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** A scale for each group: of `ScaleType` in affine mode, else one byte. */
  readonly scales: Uint8Array<ArrayBuffer>;
  /** A bias for each group, in affine mode only. */
  readonly biases?: Uint8Array<ArrayBuffer>;
}

/**
 * Quantises `w`, one row or any number of groups, which holds values of `type`.
 *
 * @throws {UserError} Where `w` is no whole groups.
 */
export function quantise(
  w: Float32Array,
  format: QuantFormat,
  type: ScaleType,
): Quantised {
  demandGroups(format, w.length);
  const { mode, bits, group } = format;
  const codes = new Uint8Array(w.length);
  const groups = w.length / group;
  const [scales, biases] = [new Float32Array(groups), new Float32Array(groups)];
  for (let g = 0; g < groups; g++) {
    const [own, to] = [w, codes].map((a) =>
      a.subarray(g * group, (g + 1) * group)
    ) as [Float32Array, Uint8Array];
    if (mode === "affine") {
      const { scale, bias } = quantiseAffine(own, bits, to);
      [scales[g], biases[g]] = [scale, bias];
    } else scales[g] = quantiseMicroscale(own, mode, to);
  }
  const packed = packBits(codes, bits);
  if (mode !== "affine") return { packed, scales: Uint8Array.from(scales) };
  return { packed, scales: encode(scales, type), biases: encode(biases, type) };
}

/** Returns the fp32 values of `count` stored weights: one row, or any number of groups. */
export function dequantise(
  { packed, scales, biases }: Quantised,
  { mode, bits, group }: QuantFormat,
  { type, count }: { readonly type: ScaleType; readonly count: number },
): Float32Array<ArrayBuffer> {
  const codes = unpackBits(packed, bits, count);
  const w = new Float32Array(count);
  if (mode === "affine") {
    const [s, b] = [decode(scales, type), decode(biases!, type)];
    for (let i = 0; i < count; i++) {
      const g = Math.floor(i / group);
      w[i] = dequantiseAffine(codes[i]!, { scale: s[g]!, bias: b[g]! });
    }
  } else {
    for (let i = 0; i < count; i++) {
      const scale = scales[Math.floor(i / group)]!;
      w[i] = dequantiseMicroscale(codes[i]!, mode, scale);
    }
  }
  return w;
}

const EPSILON = Math.fround(1e-7);
/** 1.5 · 2^52: a sum with it is rounded to a whole number, ties to even. */
const WHOLE = 1.5 * 2 ** 52;

/** The scale and bias of a group, in fp32: w ≈ scale · code + bias. */
interface AffineScale {
  readonly scale: number;
  readonly bias: number;
}

/**
 * Writes the codes of `w`, one group, to `codes`: MLX's affine quantisation, w ≈ scale ·
 * code + bias.
 *
 * Of the two edges of a group the larger in magnitude is exact, and so is 0; the scale is
 * negative where that edge is the upper one. All arithmetic is fp32, each operation rounded
 * once. Source: MLX, `mlx/backend/cpu/quantized.cpp`, whose Metal version differs in one
 * point: it takes 0 for the maximum of a group without positive numbers.
 *
 * NaN has no part in the edges and takes the last code. A group with an infinity has NaN
 * for its scale, so that all of it decodes to NaN.
 */
export function quantiseAffine(
  w: Float32Array,
  bits: number,
  codes: Uint8Array,
): AffineScale {
  const { fround, abs } = Math;
  const last = (1 << bits) - 1;
  let [least, most] = [Infinity, -Infinity];
  for (const x of w) {
    if (x < least) least = x;
    if (x > most) most = x;
  }
  const range = fround(fround(most - least) / last);
  const step = range > EPSILON ? range : EPSILON;
  const low = abs(least) > abs(most);
  const edge = low ? least : most;
  let scale = low ? step : -step;
  let bias = 0;
  const steps = rint(fround(edge / scale));
  if (steps !== 0) {
    scale = fround(edge / steps);
    bias = edge;
  }
  for (let i = 0; i < w.length; i++) {
    const code = rint(fround(fround(w[i]! - bias) / scale));
    codes[i] = code < last ? code : last;
  }
  return { scale, bias };
}

/** Returns the value of `code`, in fp32. */
export function dequantiseAffine(
  code: number,
  { scale, bias }: AffineScale,
): number {
  return Math.fround(scale * code + bias);
}

/** The fp32 number `x` as a whole one, ties to even. */
function rint(x: number): number {
  return Math.abs(x) < 2 ** 31 ? x + WHOLE - WHOLE : x;
}

/** The modes. */
export type MicroscaleMode = "mxfp4" | "mxfp8" | "nvfp4";

/** The types that a mode is made of. */
interface Microscale {
  readonly element: Codec;
  /** The values of the scale's codes. */
  readonly scales: Float64Array<ArrayBuffer>;
  /** The code of a scale, of an fp32 number that is not negative. */
  readonly encodeScale: (x: number) => number;
}

const MX = { scales: E8M0_VALUES, encodeScale: encodeE8m0 };

/** The types of each mode. */
export const MICROSCALES: Readonly<Record<MicroscaleMode, Microscale>> = {
  mxfp4: { element: e2m1, ...MX },
  mxfp8: { element: e4m3, ...MX },
  nvfp4: { element: e2m1, scales: e4m3.values, encodeScale: e4m3.encode },
};

/**
 * Writes the codes of `w`, one group of small floats that share a scale, to `codes`. Returns
 * the code of the scale.
 *
 * The scale is the largest magnitude over that of the element's type, rounded to the scale's
 * type: for the MX modes the nearest power of two, as MLX does it, which may saturate; for
 * nvfp4 the nearest E4M3. All arithmetic is fp32, each operation rounded once. Source: MLX,
 * `mlx/backend/metal/kernels/fp_quantized.h`; OCP MX 1.0.
 *
 * NaN has no part in the scale and takes the element's NaN, or its largest magnitude
 * where it has none. A scale of 0 gives elements of 0. An infinity makes an E8M0 scale
 * NaN, and an E4M3 scale its largest.
 */
export function quantiseMicroscale(
  w: Float32Array,
  mode: MicroscaleMode,
  codes: Uint8Array,
): number {
  const { element, scales, encodeScale } = MICROSCALES[mode];
  let most = 0;
  for (const x of w) {
    const magnitude = Math.abs(x);
    if (magnitude > most) most = magnitude;
  }
  const code = encodeScale(Math.fround(most / element.max));
  const scale = scales[code]!;
  for (let i = 0; i < w.length; i++) {
    codes[i] = scale === 0 ? 0 : element.encode(Math.fround(w[i]! / scale));
  }
  return code;
}

/** Returns the value of `code` under the scale with the code `scale`, in fp32. */
export function dequantiseMicroscale(
  code: number,
  mode: MicroscaleMode,
  scale: number,
): number {
  const { element, scales } = MICROSCALES[mode];
  return Math.fround(element.values[code]! * scales[scale]!);
}

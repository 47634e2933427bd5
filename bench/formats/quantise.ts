/**
 * Rows of weights to and from MLX's quantised formats, bit for bit.
 *
 * @module
 */

import { decode, encode } from "../model/dtype.ts";
import { dequantiseAffine, quantiseAffine } from "./affine.ts";
import { packBits, unpackBits } from "./bitstream.ts";
import { MICROSCALES, quantiseMicroscale } from "./microscale.ts";
import { demandGroups, type QuantFormat } from "./quant_format.ts";

/** The types that affine scales and biases are stored in: that of the weights. */
export type ScaleType = "f16" | "bf16";

/** Stored weights. */
export interface Quantised {
  /** Codes by {@linkcode packBits}; viewed as little-endian u32 words by kernels. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** A scale for each group: of `ScaleType` in affine mode, else one byte. */
  readonly scales: Uint8Array<ArrayBuffer>;
  /** A bias for each group, in affine mode only. */
  readonly biases?: Uint8Array<ArrayBuffer>;
}

/**
 * `w` quantised: one row, or any number of groups. `w` holds values of `type`.
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

/** The fp32 values of `count` stored weights: one row, or any number of groups. */
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
    const { element, scales: values } = MICROSCALES[mode];
    for (let i = 0; i < count; i++) {
      w[i] = element.values[codes[i]!]! *
        values[scales[Math.floor(i / group)]!]!;
    }
  }
  return w;
}

/**
 * Quantisation to small floats that share a scale: mxfp4, mxfp8 and nvfp4.
 *
 * The scale is the largest magnitude over that of the element's type, rounded to the
 * scale's type: for the MX modes the nearest power of two, as MLX does it, which may
 * saturate; for nvfp4 the nearest E4M3. All arithmetic is fp32, each operation rounded
 * once. Source: MLX, `mlx/backend/metal/kernels/fp_quantized.h`; OCP MX 1.0.
 *
 * @module
 */

import { e2m1, E2M1_MAX } from "./e2m1.ts";
import { e4m3, E4M3_MAX } from "./e4m3.ts";
import { E8M0_VALUES, encodeE8m0 } from "./e8m0.ts";
import type { Codec } from "./minifloat.ts";

/** The modes. */
export type MicroscaleMode = "mxfp4" | "mxfp8" | "nvfp4";

/** The types that a mode is made of. */
export interface Microscale {
  readonly element: Codec;
  /** The largest magnitude of an element. */
  readonly max: number;
  /** The values of the scale's codes. */
  readonly scales: Float64Array<ArrayBuffer>;
  /** The code of a scale, of an fp32 number that is not negative. */
  readonly encodeScale: (x: number) => number;
}

/** What each mode is made of. */
export const MICROSCALES: Readonly<Record<MicroscaleMode, Microscale>> = {
  mxfp4: {
    element: e2m1,
    max: E2M1_MAX,
    scales: E8M0_VALUES,
    encodeScale: encodeE8m0,
  },
  mxfp8: {
    element: e4m3,
    max: E4M3_MAX,
    scales: E8M0_VALUES,
    encodeScale: encodeE8m0,
  },
  nvfp4: {
    element: e2m1,
    max: E2M1_MAX,
    scales: e4m3.values,
    encodeScale: e4m3.encode,
  },
};

/**
 * Writes the codes of `w`, one group, to `codes`. @returns The code of its scale.
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
  const { element, max, scales, encodeScale } = MICROSCALES[mode];
  let most = 0;
  for (const x of w) {
    const magnitude = Math.abs(x);
    if (magnitude > most) most = magnitude;
  }
  const code = encodeScale(Math.fround(most / max));
  const scale = scales[code]!;
  for (let i = 0; i < w.length; i++) {
    codes[i] = scale === 0 ? 0 : element.encode(Math.fround(w[i]! / scale));
  }
  return code;
}

/** What `code` stands for under the scale with the code `scale`, in fp32. */
export function dequantiseMicroscale(
  code: number,
  mode: MicroscaleMode,
  scale: number,
): number {
  const { element, scales } = MICROSCALES[mode];
  return Math.fround(element.values[code]! * scales[scale]!);
}

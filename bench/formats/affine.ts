/**
 * MLX's affine quantisation: w ≈ scale · code + bias for each group of a row.
 *
 * Of the two edges of a group the larger in magnitude is exact, and so is 0; the scale is
 * negative where that edge is the upper one. All arithmetic is fp32, each operation
 * rounded once. Source: MLX, `mlx/backend/cpu/quantized.cpp`, whose Metal version differs in
 * one point: it takes 0 for the maximum of a group without positive numbers.
 *
 * @module
 */

const EPSILON = Math.fround(1e-7);
/** 1.5 · 2^52: a sum with it is rounded to a whole number, ties to even. */
const WHOLE = 1.5 * 2 ** 52;

/** What the codes of a group are multiplied by and added to, in fp32. */
export interface AffineScale {
  readonly scale: number;
  readonly bias: number;
}

/**
 * Writes the codes of `w`, one group, to `codes`.
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

/** What `code` stands for, in fp32. */
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

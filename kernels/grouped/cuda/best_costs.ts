/**
 * About how many clocks a tile of {@linkcode best} takes.
 *
 * @module
 */

import type { Costs } from "./stream.ts";

/** Bytes of a row of a slab: of decoded tokens, of weights and of their scales. */
export const [TOKEN_ROW, WEIGHT_ROW, SCALE_ROW] = [128, 32, 4];
/**
 * Clocks of a slab of 256 rows, and of each of its columns more: samples of ncu say so of tiles
 * of 64 to 128 columns. Products and what issues 120 instructions for each of 16 warps hinder
 * one another, as tensor cores take half of what the registers can be read.
 */
const [SLAB, COLUMN] = [600, 4];
/** Bytes a clock that a multiprocessor gets of the cache. */
const BYTES = 40;
/** Clocks to fill the pipeline, and to store a token. */
const [TILE, TOKEN] = [1000, 15];
/** Clocks to write or to add the sums of a piece of a tile, and of each token of it. */
const [PIECE, SUM] = [2000, 25];

/** About how many clocks a tile takes besides its slabs, each of these, and to be cut. */
export function costsOf(
  cols: number,
  rows: number,
  { KGROUPS }: { readonly KGROUPS: number },
): Costs {
  const bytes = cols * TOKEN_ROW + rows * (WEIGHT_ROW + SCALE_ROW);
  const slab = Math.max((SLAB + COLUMN * cols) / KGROUPS, bytes / BYTES);
  return { fixed: TILE + TOKEN * cols, slab, piece: PIECE + SUM * cols };
}

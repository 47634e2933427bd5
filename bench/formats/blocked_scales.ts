/**
 * The layout in which tensor cores with block scaling read scale factors: tiles of 128
 * rows and 4 columns, 512 bytes each, rows of a tile 32 apart side by side.
 *
 * Source: cuBLAS, "1D block scaling factors layout"; PTX ISA, `tcgen05` scale factors. It
 * is the same for E4M3 scales of 16 elements and E8M0 scales of 32.
 *
 * @module
 */

const TILE_ROWS = 128;
const TILE_COLS = 4;
const TILE_BYTES = TILE_ROWS * TILE_COLS;

/** The shape of scale factors: a column for each group of a row. */
export interface ScaleShape {
  readonly rows: number;
  readonly cols: number;
}

/** Bytes of a blocked matrix of one-byte scales: whole tiles. */
export function blockedBytes({ rows, cols }: ScaleShape): number {
  return Math.ceil(rows / TILE_ROWS) * Math.ceil(cols / TILE_COLS) * TILE_BYTES;
}

/**
 * Returns the offset of the scale of row `row` and column `col`, of `cols` columns.
 *
 * @example
 * ```ts
 * import { blockedOffset } from "./blocked_scales.ts";
 * import { assertStrictEquals } from "@std/assert";
 *
 * assertStrictEquals(blockedOffset(33, 2, 4), 16 + 4 + 2);
 * assertStrictEquals(blockedOffset(0, 4, 8), 512);
 * ```
 */
export function blockedOffset(row: number, col: number, cols: number): number {
  const tile = Math.floor(row / TILE_ROWS) * Math.ceil(cols / TILE_COLS) +
    (col >> 2);
  return tile * TILE_BYTES + row % 32 * 16 + (row % TILE_ROWS >> 5) * 4 +
    (col & 3);
}

/** The row and the column of the scale at `offset`, which may be one of padding. */
export function blockedPlace(
  offset: number,
  cols: number,
): { readonly row: number; readonly col: number } {
  const across = Math.ceil(cols / TILE_COLS);
  const tile = Math.floor(offset / TILE_BYTES);
  const within = offset % TILE_BYTES;
  return {
    row: Math.floor(tile / across) * TILE_ROWS + (within % 16 >> 2) * 32 +
      (within >> 4),
    col: tile % across * TILE_COLS + (within & 3),
  };
}

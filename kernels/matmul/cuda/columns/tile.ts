/**
 * The tiles of `columns-k`: their wgmma instructions, shared memory and macros.
 *
 * @module
 */

import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import {
  ownsWholeSlots,
  type RingConfig,
  ringDefines,
  type RingNeeds,
  type Sizes,
  stagesOf,
  WGMMA_ROWS,
} from "../../../common/wgmma_ring.ts";
import type { MatmulPoint } from "../../point.ts";

/** The tunables. */
export type ColumnsConfig = RingConfig & {
  /**
   * 1: BM divides the rows of A, and BN the outputs of a row. Missing: BM divides the outputs of a row of
   * A, and BN its rows.
   */
  readonly TOKEN_ROWS?: 1;
};

/** Elements of a line of a box: 128 bytes. */
export const BOX = 64;

/**
 * The sizes as a {@linkcode RingConfig} counts them: `n` is what BM divides, and `m` what BN does, so that
 * the two are exchanged with `TOKEN_ROWS`.
 */
export function ringSizesOf(
  { m, n, k }: Sizes,
  { TOKEN_ROWS }: Pick<ColumnsConfig, "TOKEN_ROWS">,
): Sizes {
  return TOKEN_ROWS ? { m: n, n: m, k } : { m, n, k };
}

/** Returns the rows of the wgmma instructions of a tile: `BM` rounded up to whole instructions. */
export function wgmmaRows({ BM }: Pick<RingConfig, "BM">): number {
  return Math.ceil(BM / WGMMA_ROWS) * WGMMA_ROWS;
}

/** Returns the columns that a warp multiplies, summed over its instructions. */
export function columnsOf({ BM, BN, WARPS }: RingConfig): number {
  return wgmmaRows({ BM }) * BN / 16 / WARPS;
}

/** Returns the slots of a thread: one for each eight columns that its warp multiplies. */
export function slotsOf(config: RingConfig): number {
  return columnsOf(config) / 8;
}

/** Returns whether each block of a cluster owns whole slots. */
export function bySlot(config: RingConfig): boolean {
  return ownsWholeSlots(slotsOf(config), config.CLUSTER);
}

/** Returns whether the boxes of a tile are whole: for a row-major B they are 64 columns wide. */
export function hasWholeBoxes(
  { layout }: MatmulPoint,
  outputs: number,
): boolean {
  return layout === "nt" || outputs % BOX === 0;
}

/** Returns whether `ptx_mma_mn.h` has the wgmma of a row-major B with so many columns. */
export function hasRowMajorWgmma(
  { layout }: MatmulPoint,
  columns: number,
): boolean {
  return layout === "nt" || [16, 32, 64, 128, 192, 256].includes(columns);
}

/** Returns whether the rows that wgmma reads beyond the tile lie within the same step of the ring. */
export function readsWithinStep({ BM, BN, BK }: RingConfig): boolean {
  return wgmmaRows({ BM }) - BM <= BN * BK / BOX;
}

/**
 * Returns the shared memory and the registers that a config needs. A thread needs 32 registers beside
 * its sums; one of sixteen warps, which has 112 at most, needs 28: ptxas 13.0 compiles tiles of 256 x
 * 168 without spills, and spills those of 256 x 176.
 */
export function needsOf(_: MatmulPoint, config: ColumnsConfig): RingNeeds {
  const { BM, BN, BK, WARPS, CLUSTER } = config;
  const most = Math.ceil(slotsOf(config) / CLUSTER);
  const mail = CLUSTER > 1 ? (CLUSTER - 1) * most * 32 * WARPS * 16 + 16 : 0;
  return {
    // A step has two barriers.
    step: (BM + BN) * BK * BYTES.bf16 + 16,
    beside: mail,
    registers: slotsOf(config) * 4 + (WARPS < 16 ? 32 : 28),
  };
}

/** The K steps of the ring. */
export function stages(point: MatmulPoint, config: ColumnsConfig): number {
  return stagesOf(ringSizesOf(point, config), config, needsOf(point, config));
}

/** The macros of `columns.cu`. */
export function definesOf(point: MatmulPoint, config: ColumnsConfig): Values {
  return ringDefines(
    ringSizesOf(point, config),
    config,
    needsOf(point, config),
  );
}

/**
 * The tiles of `columns-k`: their products, their shared memory and their macros.
 *
 * @module
 */

import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import {
  haveWholeSlots,
  PRODUCT,
  type RingConfig,
  ringDefines,
  type RingNeeds,
  type Sizes,
  stagesOf,
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
export function sidesOf(
  { m, n, k }: Sizes,
  { TOKEN_ROWS }: Pick<ColumnsConfig, "TOKEN_ROWS">,
): Sizes {
  return TOKEN_ROWS ? { m: n, n: m, k } : { m, n, k };
}

/** Rows of the products that a tile takes of which `BM` are its own. */
export function productRows({ BM }: Pick<RingConfig, "BM">): number {
  return Math.ceil(BM / PRODUCT) * PRODUCT;
}

/** Columns of the products of a warp. */
export function columnsOf({ BM, BN, WARPS }: RingConfig): number {
  return productRows({ BM }) * BN / 16 / WARPS;
}

/** Slots of a thread: eights of the columns that its warp multiplies. */
export function slotsOf(config: RingConfig): number {
  return columnsOf(config) / 8;
}

/** Whether each block of a cluster has whole slots. */
export function bySlot(config: RingConfig): boolean {
  return haveWholeSlots(slotsOf(config), config.CLUSTER);
}

/** Whether boxes are whole: of a B that is stored by rows they are 64 columns wide. */
export function hasWholeBoxes(
  { layout }: MatmulPoint,
  outputs: number,
): boolean {
  return layout === "nt" || outputs % BOX === 0;
}

/** Whether wgmma has products of a B by rows with so many columns (`ptx_mma_mn.h`). */
export function hasByRows({ layout }: MatmulPoint, columns: number): boolean {
  return layout === "nt" || [16, 32, 64, 128, 192, 256].includes(columns);
}

/** Whether what products read behind the rows of a tile is of the same step. */
export function staysInStep({ BM, BN, BK }: RingConfig): boolean {
  return productRows({ BM }) - BM <= BN * BK / BOX;
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
  return stagesOf(sidesOf(point, config), config, needsOf(point, config));
}

/** The macros of `columns.cu`. */
export function definesOf(point: MatmulPoint, config: ColumnsConfig): Values {
  return ringDefines(sidesOf(point, config), config, needsOf(point, config));
}

/**
 * Tiles of a product on simdgroup matrices (`matmul/metal/tile.metal.h`).
 *
 * @module
 */

import { BYTES } from "../../bench/model/dtype.ts";
import type { MatmulPoint } from "../matmul/point.ts";
import { tableOf } from "./rules.ts";

/** The compile-time sizes of a product. */
export interface MetalTile {
  /** Rows and columns of the output that a threadgroup owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  /** Simdgroups of 32 lanes along M and along N. */
  readonly SM: number;
  readonly SN: number;
}

/** Tiles of rows of BM, BN, BK, SM, SN. */
export function metalTilesOf(
  rows: readonly (readonly number[])[],
): readonly MetalTile[] {
  return tableOf(["BM", "BN", "BK", "SM", "SN"], rows);
}

/** Threads of a threadgroup. */
export function metalThreads({ SM, SN }: MetalTile): number {
  return 32 * SM * SN;
}

/** Bytes of threadgroup memory: both tiles, their rows padded by 16 bytes. */
export function metalRoom(
  { BM, BN, BK }: Omit<MetalTile, "SM" | "SN">,
  { type, layout }: Pick<MatmulPoint, "type" | "layout">,
): number {
  const pad = 16 / BYTES[type];
  const b = layout === "nt" ? BN * (BK + pad) : BK * (BN + pad);
  return BYTES[type] * (BM * (BK + pad) + b);
}

/**
 * How the warps of a one-launch kernel share a tile, and the shared memory that it takes.
 *
 * @module
 */

import { BYTES } from "../../../../bench/model/dtype.ts";
import type { MatmulPoint } from "../../point.ts";
import {
  type ClusterConfig,
  columnsOf,
  isWarpgroups,
  slicesOf,
} from "./configs.ts";

type Sizes = Pick<MatmulPoint, "m" | "n" | "k" | "type">;

/** A warp's part of a tile, and how many warps share a K step: `Cut` of warp_tiling.cuh. */
export function cutOf(
  point: Pick<Sizes, "n" | "type">,
  config: ClusterConfig,
): { readonly m: number; readonly n: number; readonly k: number } {
  const { BM, BN, WARPS, KWARPS } = config;
  if (isWarpgroups(config)) return { m: 16, n: BM * BN / 16 / WARPS, k: 1 };
  let [m, n, k] = [BM, columnsOf(point, config), KWARPS];
  for (let warps = WARPS / KWARPS; warps > 1; warps /= 2) {
    const rows = m % 32 === 0;
    if (m >= n && rows) m /= 2;
    else if (n > 16 && n % (point.type === "f32" ? 32 : 16) === 0) n /= 2;
    else if (rows) m /= 2;
    else k *= 2;
  }
  return { m, n, k };
}

/** How the lanes of a warp share its part of a tile in fp32: `Lanes` of tiled_ffma.cuh. */
export interface Lanes {
  /** Rows and columns of a lane. */
  readonly rows: number;
  readonly columns: number;
  /** Groups of lanes that share K. */
  readonly groups: number;
}

/** The grid of lanes that reads least for each sum. */
export function lanesOf(
  point: Pick<Sizes, "n" | "type">,
  config: ClusterConfig,
): Lanes {
  const { m, n, k } = cutOf(point, config);
  const reads = ({ rows, columns }: Lanes) => (rows + columns) / rows / columns;
  return [4, 2].flatMap((across) =>
    [8, 4, 2].map((down) => ({
      rows: m / down,
      columns: n / across,
      groups: 32 / across / down,
    }))
  ).filter(({ rows, columns, groups }) =>
    Number.isInteger(rows) && columns % 4 === 0 &&
    (groups === 1 || rows * columns <= 64) &&
    config.BK % (4 * k * groups) === 0 && rows * columns / 4 % groups === 0
  ).reduce((best, lanes) => reads(lanes) < reads(best) ? lanes : best);
}

/** Threads of a block: those that multiply, and a warp that asks for copies by tensor maps. */
export function threadsOf(
  { LOAD, WARPS }: Pick<ClusterConfig, "LOAD" | "WARPS">,
): number {
  return 32 * (LOAD === "tensor" ? WARPS + 1 : WARPS);
}

/** Bytes of shared memory in which operands arrive. */
export function ringBytes({ type }: Sizes, c: ClusterConfig): number {
  return c.STAGES * (c.BM + c.BN) * c.BK * BYTES[type];
}

/** Bytes in which the sums of warps that share K steps meet. */
export function meetingBytes(point: Sizes, config: ClusterConfig): number {
  const warps = cutOf(point, config).k;
  return warps > 1
    ? warps * config.BM * columnsOf(point, config) * BYTES.f32
    : 0;
}

/**
 * Bytes of shared memory: the ring and its barriers, or the meeting; where there are slices, a mailbox for each
 * share and its barrier, 16 bytes of each thread for parts that meet.
 */
export function sharedBytes(point: Sizes, config: ClusterConfig): number {
  const { LOAD, BM, CLUSTER, WARPS, STAGES } = config;
  const barriers = LOAD === "tensor" ? STAGES * 16 : 0;
  const room = LOAD === "direct"
    ? meetingBytes(point, config)
    : ringBytes(point, config) + barriers;
  if (slicesOf(config) === 1) return room;
  // A share is whole units of at most 16 bytes.
  const share = Math.ceil(BM * columnsOf(point, config) / CLUSTER / 4) * 4;
  return room + CLUSTER * share * BYTES.f32 + 16 + 32 * WARPS * 16;
}

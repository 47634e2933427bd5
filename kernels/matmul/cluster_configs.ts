/**
 * The configs of the one-launch kernels: how a tile of the output and its K slices are laid
 * out on the device. What makes one impossible is in `cluster_rules.ts`.
 *
 * @module
 */

import { BYTES } from "../../bench/dtype.ts";
import type { Values } from "../../bench/grid.ts";
import type { MatmulPoint } from "./op.ts";

/** K steps in flight at most: beyond, they are no longer what a block waits for. */
export const MOST_STAGES = 8;

/** How a product is cut. */
export type ClusterConfig = Values & {
  /**
   * Whether operands go through a ring in shared memory, from where warps or whole warpgroups
   * multiply them, through a ring for each warp, or directly to registers.
   */
  readonly LOAD: "ring" | "warps" | "wgmma" | "direct";
  /** Rows and columns of the output that a cluster owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  readonly WARPS: number;
  /** Warps that share a K step, at least. */
  readonly KWARPS: number;
  /** K steps in flight or in use. */
  readonly STAGES: number;
  /** Blocks of a cluster: K slices that meet in distributed shared memory. */
  readonly CLUSTER: number;
  /** Clusters that share a tile: they meet in a workspace. */
  readonly PARTS: number;
};

type Sizes = Pick<MatmulPoint, "m" | "n" | "k" | "type">;

/** The number of K slices. */
export function slicesOf({ CLUSTER, PARTS }: ClusterConfig): number {
  return CLUSTER * PARTS;
}

/**
 * Clusters that are on a device at once, a block a unit: its units come in groups of different
 * sizes, which a cluster does not leave. `cuOccupancyMaxActiveClusters` said 66, 30, 15 and 7 of 2,
 * 4, 8 and 16 blocks on an H200 of 132; other chips of the name may hold others.
 */
export function clustersAtOnce(units: number, size: number): number {
  return Math.max(1, Math.floor(units / size * (size > 2 ? 0.92 : 1)));
}

/** Elements of K that a block owns: whole k16 steps, the last block's may be fewer. */
export function sliceOf(
  { k }: Pick<Sizes, "k">,
  config: ClusterConfig,
): number {
  return Math.ceil(k / slicesOf(config) / 16) * 16;
}

/** Clusters along N and along M. */
export function tilesOf(
  { m, n }: Pick<Sizes, "m" | "n">,
  { BM, BN }: Pick<ClusterConfig, "BM" | "BN">,
): readonly [number, number] {
  return [Math.ceil(n / BN), Math.ceil(m / BM)];
}

/**
 * Which operand is whole tiles and, as K is whole steps, all of it where the kernel looks: its
 * copies ask nothing then. All rows start on 16 bytes.
 */
export function evenness(
  point: Sizes & Pick<MatmulPoint, "lda" | "ldb" | "layout">,
  config: ClusterConfig,
): { readonly EVEN_A: 0 | 1; readonly EVEN_B: 0 | 1 } {
  const { m, n, k, lda, ldb, type, layout } = point;
  const slice = sliceOf(point, config);
  const even = slice * slicesOf(config) === k && slice % config.BK === 0 &&
    [lda, ldb, layout === "nn" ? n : slice].every((length) =>
      length * BYTES[type] % 16 === 0
    );
  const whole = (size: number, tile: number) => even && size % tile === 0;
  return {
    EVEN_A: whole(m, config.BM) ? 1 : 0,
    EVEN_B: whole(n, config.BN) ? 1 : 0,
  };
}

/** Columns of a tile that are multiplied: `COLUMNS` of cut.cuh. */
export function columnsOf(
  { n }: Pick<Sizes, "n">,
  { LOAD, BN }: Pick<ClusterConfig, "LOAD" | "BN">,
): number {
  return LOAD === "ring" || LOAD === "warps"
    ? Math.min(BN, Math.ceil(n / 16) * 16)
    : BN;
}

/** A warp's part of a tile, and how many warps share a K step: `Cut` of cut.cuh. */
export function cutOf(
  point: Pick<Sizes, "n" | "type">,
  config: ClusterConfig,
): { readonly m: number; readonly n: number; readonly k: number } {
  const { LOAD, BM, BN, WARPS, KWARPS } = config;
  if (LOAD === "wgmma") return { m: 16, n: BM * BN / 16 / WARPS, k: 1 };
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

/** How the lanes of a warp share its part of a tile in fp32: `Lanes` of product_ffma.cuh. */
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
 * Bytes of shared memory: the ring or the meeting; where there are slices, a mailbox for each
 * share and its barrier, 16 bytes of each thread for parts that meet.
 */
export function sharedBytes(point: Sizes, config: ClusterConfig): number {
  const { LOAD, BM, CLUSTER, WARPS } = config;
  const room = LOAD === "direct"
    ? meetingBytes(point, config)
    : ringBytes(point, config);
  if (slicesOf(config) === 1) return room;
  // A share is whole units of at most 16 bytes.
  const share = Math.ceil(BM * columnsOf(point, config) / CLUSTER / 4) * 4;
  return room + CLUSTER * share * BYTES.f32 + 16 + 32 * WARPS * 16;
}

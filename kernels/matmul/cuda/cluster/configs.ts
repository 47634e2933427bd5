/**
 * The configs of the one-launch kernels: how a tile of the output and its K slices are laid
 * out on the device. Rules are in `rules.ts`.
 *
 * @module
 */

import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { emptySlices } from "../../../common/rules.ts";
import type { MatmulPoint } from "../../point.ts";

/** The most K steps in flight: with more, a block does not wait for copies. */
export const MOST_STAGES = 8;

/** The tunables of a one-launch kernel. */
export type ClusterConfig = Values & {
  /**
   * How operands reach the multiplying warps: `ring`, by one ring in shared memory; `warps`, by a ring
   * for each warp; `tensor`, by a ring that tensor maps fill, for wgmma.
   */
  readonly LOAD: "ring" | "warps" | "tensor";
  /** Rows and columns of a tile of the output. */
  readonly BM: number;
  readonly BN: number;
  /** Elements of K in a K step. */
  readonly BK: number;
  readonly WARPS: number;
  /** The least number of warps that share a K step. */
  readonly KWARPS: number;
  /** K steps in flight or in use. */
  readonly STAGES: number;
  /** Blocks of a cluster: K slices that are summed in distributed shared memory. */
  readonly CLUSTER: number;
  /** Clusters that share a tile: their sums are added in a workspace. */
  readonly PARTS: number;
  /** Tiles of a cluster, all slices of each, along M and along N; 1 if missing. */
  readonly TILES_M?: number;
  readonly TILES_N?: number;
};

/** Tiles of a cluster. */
export function tilesAtOnce(
  { TILES_M = 1, TILES_N = 1 }: Pick<ClusterConfig, "TILES_M" | "TILES_N">,
): number {
  return TILES_M * TILES_N;
}

type Sizes = Pick<MatmulPoint, "m" | "n" | "k" | "type">;

/** The number of K slices. */
export function slicesOf(
  { CLUSTER, PARTS }: Pick<ClusterConfig, "CLUSTER" | "PARTS">,
): number {
  return CLUSTER * PARTS;
}

/**
 * Returns the elements of K of a block; the last block may have fewer. They are whole K steps, whose
 * copies need no bounds checks, if K is a multiple of BK and no block would be empty; else whole steps
 * of 16.
 */
export function sliceOf(
  { k }: Pick<Sizes, "k">,
  config: Pick<ClusterConfig, "LOAD" | "BK" | "CLUSTER" | "PARTS">,
): number {
  const slices = slicesOf(config);
  const whole = (step: number) => Math.ceil(k / slices / step) * step;
  const steps = whole(config.BK);
  // Tensor maps check bounds at the end of K alone.
  if (config.LOAD === "tensor") return steps;
  return k % config.BK === 0 && !emptySlices(k, { slices, slice: steps })
    ? steps
    : whole(16);
}

/** Bytes of the operands of a block from which the grid counts tiles first. */
const TILES_FIRST_BYTES = 96 * 1024;

/**
 * Returns true if the grid counts tiles before slices. With 12 parts and more that was 1 to 5 %
 * faster on an H200 where a block reads much, and up to 4 % slower where it reads little or with
 * 4 and 8 parts (`docs/notes/2026-11-22-performance.md`).
 */
export function tilesFirst(
  point: Pick<Sizes, "k" | "type">,
  config: ClusterConfig,
): boolean {
  const { BM, BN, CLUSTER, PARTS } = config;
  return CLUSTER * tilesAtOnce(config) === 1 && PARTS >= 12 &&
    (BM + BN) * sliceOf(point, config) * BYTES[point.type] >= TILES_FIRST_BYTES;
}

/**
 * Returns the rows of A and of B, as stored, that a block copies by tensor maps. The blocks of a
 * cluster in the same row or column of tiles copy equal parts of what they share. Rows beyond M are
 * left out.
 */
export function boxRowsOf(
  { m, layout }: Pick<MatmulPoint, "m" | "layout">,
  { BM, BN, BK, TILES_M = 1, TILES_N = 1 }: Pick<
    ClusterConfig,
    "BM" | "BN" | "BK" | "TILES_M" | "TILES_N"
  >,
): readonly [number, number] {
  return [
    Math.min(BM / TILES_N, Math.ceil(m / 8 / TILES_N) * 8),
    (layout === "nt" ? BN : BK) / TILES_M,
  ];
}

/** Tiles along N and along M. */
export function tilesOf(
  { m, n }: Pick<Sizes, "m" | "n">,
  { BM, BN }: Pick<ClusterConfig, "BM" | "BN">,
): readonly [number, number] {
  return [Math.ceil(n / BN), Math.ceil(m / BM)];
}

/** Blocks: slices by tiles along N by tiles along M, in the order of `TileScheduler` of cluster.cuh. */
export function gridOf(
  point: Sizes,
  config: ClusterConfig,
): readonly [number, number, number] {
  const { TILES_M = 1, TILES_N = 1 } = config;
  const [x, y] = tilesOf(point, config);
  const slices = slicesOf(config);
  return tilesFirst(point, config) ? [x, y, slices] : [
    slices * tilesAtOnce(config),
    Math.ceil(x / TILES_N),
    Math.ceil(y / TILES_M),
  ];
}

/**
 * Returns the flags of the operands whose copies need no bounds checks: they are whole tiles and whole
 * K steps. All rows start at multiples of 16 bytes.
 */
export function evenFlags(
  point: Sizes & Pick<MatmulPoint, "lda" | "ldb" | "layout">,
  config: ClusterConfig,
): { readonly EVEN_A: 0 | 1; readonly EVEN_B: 0 | 1 } {
  const { m, n, k, lda, ldb, type, layout } = point;
  const slice = sliceOf(point, config);
  const even = k % config.BK === 0 && slice % config.BK === 0 &&
    [lda, ldb, layout === "nn" ? n : slice].every((length) =>
      length * BYTES[type] % 16 === 0
    );
  const whole = (size: number, tile: number) => even && size % tile === 0;
  return {
    EVEN_A: whole(m, config.BM) ? 1 : 0,
    EVEN_B: whole(n, config.BN) ? 1 : 0,
  };
}

/** Columns of a tile that are multiplied: `COLUMNS` of warps.cuh. */
export function columnsOf(
  { n }: Pick<Sizes, "n">,
  { LOAD, BN }: Pick<ClusterConfig, "LOAD" | "BN">,
): number {
  return LOAD === "tensor" ? BN : Math.min(BN, Math.ceil(n / 16) * 16);
}

/** A warp's part of a tile, and how many warps share a K step: `WarpTiling` of warps.cuh. */
export function warpTilingOf(
  point: Pick<Sizes, "n" | "type">,
  config: ClusterConfig,
): { readonly m: number; readonly n: number; readonly k: number } {
  const { BM, BN, WARPS, KWARPS } = config;
  if (config.LOAD === "tensor") return { m: 16, n: BM * BN / 16 / WARPS, k: 1 };
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

/** The grid of a warp's lanes in fp32: `Lanes` of tiled_ffma.cuh. */
interface Lanes {
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
  const { m, n, k } = warpTilingOf(point, config);
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

/** Returns the threads of a block: those that multiply, and with tensor maps a copying warp. */
export function threadsOf(
  { LOAD, WARPS }: Pick<ClusterConfig, "LOAD" | "WARPS">,
): number {
  return 32 * (LOAD === "tensor" ? WARPS + 1 : WARPS);
}

/** Returns the bytes of shared memory of the ring of operands. */
export function ringBytes({ type }: Sizes, c: ClusterConfig): number {
  return c.STAGES * (c.BM + c.BN) * c.BK * BYTES[type];
}

/** Returns the bytes of shared memory in which warps that share K steps add their sums. */
export function warpReduceBytes(point: Sizes, config: ClusterConfig): number {
  const warps = warpTilingOf(point, config).k;
  return warps > 1
    ? warps * config.BM * columnsOf(point, config) * BYTES.f32
    : 0;
}

/** Slots of four sums of a thread of a warpgroup. */
function slotsOf(point: Sizes, config: ClusterConfig): number {
  return config.BM * columnsOf(point, config) / 4 / 32 / config.WARPS;
}

/** Tells whether blocks own slots of sums instead of shares of the tile: `BY_SLOT` of cluster_reduce.cuh. */
export function isBySlot(point: Sizes, config: ClusterConfig): boolean {
  const { LOAD, CLUSTER } = config;
  const slots = slotsOf(point, config);
  return LOAD === "tensor" &&
    (slots % CLUSTER === 0 || slots >= (CLUSTER - 1) ** 2);
}

/** Returns the bytes for sums of the other blocks of a cluster: `MAIL` of cluster_reduce.cuh. */
function clusterReduceBytes(point: Sizes, config: ClusterConfig): number {
  const { BM, CLUSTER, WARPS } = config;
  if (isBySlot(point, config)) {
    const most = Math.ceil(slotsOf(point, config) / CLUSTER);
    return (CLUSTER - 1) * most * 32 * WARPS * 16;
  }
  // A share is whole units of at most 16 bytes.
  return CLUSTER * Math.ceil(BM * columnsOf(point, config) / CLUSTER / 4) * 16;
}

/**
 * Bytes of shared memory beside the ring: for sums of the blocks of the cluster and a barrier, and 16
 * bytes a thread for the exchange of parts.
 */
export function reductionBytes(point: Sizes, config: ClusterConfig): number {
  if (slicesOf(config) === 1) return 0;
  const exchange = config.PARTS > 1 ? 32 * config.WARPS * 16 : 0;
  return clusterReduceBytes(point, config) + 16 + exchange;
}

/** Bytes of shared memory: the ring and its barriers, and what is beside it. */
export function sharedBytes(point: Sizes, config: ClusterConfig): number {
  const barriers = config.LOAD === "tensor" ? config.STAGES * 16 : 0;
  return ringBytes(point, config) + barriers + reductionBytes(point, config);
}

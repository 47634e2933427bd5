/**
 * Lists the configs of the one-launch kernels that are tried.
 *
 * @module
 */

import type { DeviceInfo } from "../../../../bench/device/device.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import type { MatmulPoint } from "../../point.ts";
import { type ClusterConfig, MOST_STAGES, tilesOf } from "./configs.ts";

type Shape = Pick<MatmulPoint, "m" | "n" | "k" | "type" | "layout">;
/** The slices of a tile: blocks of a cluster, and clusters. */
type Join = Pick<ClusterConfig, "CLUSTER" | "PARTS">;
type Tile = Pick<ClusterConfig, "BM" | "BN">;
type Limits = Pick<DeviceInfo, "units" | "sharedBytes">;

/**
 * Sizes of clusters: those whose blocks fill the device once or twice, small ones where there
 * are tiles enough to make most units busy, and the largest, for few tiles.
 */
function clusters(
  shape: Shape,
  tile: Tile,
  units: number,
): number[] {
  const [x, y] = tilesOf(shape, tile);
  const count = x * y;
  const full = [units, 2 * units].map((blocks) => Math.floor(blocks / count))
    .filter((size) => size >= 1 && size < 8);
  const small = [1, 2, 4].filter((size) =>
    2 * count * size >= units && (size === 1 || count * size <= 2 * units)
  );
  const large = [8, 16].filter((size) => count * size <= 4 * units);
  return [...new Set([...full, ...small, ...large])];
}

/**
 * Parts that make all of the device's units busy, or a half, a quarter, an eighth, those that take
 * no more K steps than the most parts do, and those of which each has whole steps of 256.
 */
function parts(
  shape: Shape,
  { tile, units, CLUSTER }: {
    readonly tile: Tile;
    readonly units: number;
    readonly CLUSTER: number;
  },
): number[] {
  const [x, y] = tilesOf(shape, tile);
  const most = Math.floor(units / (x * y * CLUSTER));
  const whole = 2 ** Math.floor(Math.log2(most));
  const even: number[] = [];
  for (let count = most; count > most / 4 && even.length < 2; count--) {
    if (shape.k % (count * CLUSTER * 256) === 0) even.push(count);
  }
  const least = [128, 256].map((step) => {
    const steps = Math.ceil(shape.k / step / CLUSTER);
    return Math.ceil(steps / Math.ceil(steps / most));
  });
  const counts = [
    most,
    whole,
    ...least,
    ...even,
    whole / 2,
    whole / 4,
    whole / 8,
  ];
  return [...new Set(counts)].filter((count) => count >= 2);
}

function tiles(sides: readonly (readonly [number, number])[]): Tile[] {
  return sides.map(([BM, BN]) => ({ BM, BN }));
}

const SMALL = tiles([[16, 16], [16, 32], [32, 16], [32, 32], [16, 64]]);
/** For outputs of which small tiles would read the operands again too often. */
const LARGE = tiles([[32, 64], [64, 32], [64, 64], [64, 128]]);
const ALL = [...SMALL, ...LARGE];

const STEPS = [128, 256, 512];
/** WARPS, and those of them that share a K step at least. */
const RING_WARPS = [[4, 1], [8, 8]] as const;
/** For tiles whose sums are too many for 4 warps, or for each of 8. */
const LARGE_WARPS = [[4, 1], [8, 1]] as const;
/** Warps of which each has a ring. */
const OWN_WARPS = [4, 8];

/** Through rings, for each tile and way to meet: all steps in flight, or fewer of them. */
function* rings(
  shape: Shape,
  { tiles, joins, sharedBytes }: {
    readonly tiles: readonly Tile[];
    readonly joins: (tile: Tile) => Iterable<Join>;
    readonly sharedBytes: number;
  },
): Generator<ClusterConfig> {
  for (const tile of tiles) {
    for (const join of joins(tile)) {
      for (const BK of STEPS) {
        const config = { ...tile, ...join, BK };
        for (const STAGES of stages(shape, { config, sharedBytes })) {
          for (const [WARPS, KWARPS] of ringWarps(tile)) {
            yield { LOAD: "ring", ...config, WARPS, KWARPS, STAGES };
          }
        }
        for (
          const STAGES of stages(shape, { config, sharedBytes, few: true })
        ) {
          for (const WARPS of OWN_WARPS) {
            yield { LOAD: "warps", ...config, WARPS, KWARPS: WARPS, STAGES };
          }
        }
      }
    }
  }
}

function ringWarps({ BM, BN }: Tile) {
  // Tiles of eight rows have rings of warps alone.
  if (BM === 8) return [];
  return BM * BN >= 64 * 64 ? LARGE_WARPS : RING_WARPS;
}

function stages(
  { k, type }: Shape,
  { config: { BM, BN, BK, CLUSTER, PARTS }, sharedBytes, few = false }: {
    readonly config: Tile & Join & Pick<ClusterConfig, "BK">;
    readonly sharedBytes: number;
    /** Whether two and three are tried too: the first step comes the sooner. */
    readonly few?: boolean;
  },
): number[] {
  const steps = Math.ceil(k / (CLUSTER * PARTS) / BK);
  const bytes = (BM + BN) * BK * BYTES[type];
  // 16 KiB are left for what meets.
  const most = Math.floor((sharedBytes - 16384) / bytes);
  const all = Math.min(steps, most, MOST_STAGES);
  const half = Math.ceil(all / 2);
  if (all < 1) return [];
  const less = few ? [half, 3, 2] : all === steps ? [half] : [];
  const counts = less.filter((count) => count >= 2 && count < all);
  return [...new Set([all, ...counts])];
}

/**
 * For few rows, tiles of as many columns as make one for each unit, or for a half of them, by
 * eights: blocks that need no other, or one other, to have their sums.
 */
function fitting(
  { m, n, type, layout }: Shape,
  units: number,
): readonly Tile[] {
  if (layout === "nn" || type === "f32" || m > 32) return [];
  const sides = [units, units / 2].map((count) => Math.ceil(n / count / 8) * 8)
    .filter((BN) => BN <= 64 && !ALL.some((tile) => tile.BN === BN));
  const BM = m > 16 ? 32 : 16;
  return [...new Set(sides)].map((BN) => ({ BM, BN }));
}

/** For few rows: twice as many clusters read A, or rings have room for more steps. */
const EIGHT = tiles([[8, 16], [8, 32]]);

/** The configs of the kernel whose slices are one cluster. */
export function clusterConfigs(
  shape: Shape,
  { units, sharedBytes }: Limits,
): Iterable<ClusterConfig> {
  const joins = (tile: Tile) =>
    clusters(shape, tile, units).map((CLUSTER) => ({ CLUSTER, PARTS: 1 }));
  const eight = shape.type === "f32" || shape.m > 32 ? [] : EIGHT;
  const tiles = [...ALL, ...eight, ...fitting(shape, units)];
  return rings(shape, { tiles, joins, sharedBytes });
}

/**
 * The configs of the kernel whose parts exchange sums: without clusters but for large tiles, where
 * two blocks halve the sums that are exchanged, and operands are read less often than for two tiles.
 */
export function exchangeConfigs(
  shape: Shape,
  { units, sharedBytes }: Limits,
): Iterable<ClusterConfig> {
  const joins = (tile: Tile) => {
    const of = (CLUSTER: number) =>
      parts(shape, { tile, units, CLUSTER })
        .map((PARTS) => ({ CLUSTER, PARTS }));
    const large = tile.BM * tile.BN >= 2048;
    return [...of(1), ...(large ? of(2).slice(0, 2) : [])];
  };
  const tiles = [...ALL, ...fitting(shape, units)];
  return rings(shape, { tiles, joins, sharedBytes });
}

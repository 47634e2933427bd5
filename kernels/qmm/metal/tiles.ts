/**
 * The tiles of the Metal kernels: MLX's, and ours for few rows of x; slices of K; rules, and a
 * model of the time.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Rules } from "../../../bench/model/kernel.ts";
import {
  metalRoom,
  metalThreads,
  type MetalTile,
  metalTilesOf,
} from "../../common/metal_tile.ts";
import { slicesOf } from "./mlx_dispatch.ts";
import { blockOf, type QmmPoint } from "../point.ts";
import {
  emptySlices,
  fitsMemory,
  nextPowerOfTwo,
  padding,
} from "../../common/rules.ts";

/** A tile and the number of K slices. */
export type QmmTile = Values & MetalTile & { readonly SPLIT: number };

/** MLX's: BM = BN = BK = 32 and four simdgroups, two by two. */
export const MLX_TILE: MetalTile = { BM: 32, BN: 32, BK: 32, SM: 2, SN: 2 };

const TILES = metalTilesOf([
  // BM, BN, BK, SM, SN.
  [8, 32, 32, 1, 4],
  [8, 32, 64, 1, 4],
  [8, 64, 32, 1, 4],
  [16, 32, 32, 2, 2],
  [16, 32, 32, 1, 4],
  [16, 32, 64, 1, 4],
  [16, 64, 32, 1, 4],
  [32, 32, 32, 2, 2],
  [32, 64, 32, 2, 2],
  [64, 64, 32, 2, 2],
]);
const SPLITS = [1, 2, 3, 4, 5, 6, 8, 12, 16];

/** Returns why there are too many outputs. */
export function tooManyOutputs({ m, n }: QmmPoint): string | undefined {
  return m * n < 2 ** 31
    ? undefined
    : `M x N = ${m * n}: elements of y are numbered in 31 bits`;
}

/** Every tile with every number of slices. */
export function* qmmTiles(): Generator<QmmTile> {
  for (const tile of TILES) {
    for (const SPLIT of SPLITS) yield { ...tile, SPLIT };
  }
}

/** K of a slice: whole groups along K and whole steps; the last has what is left of K. */
export function sliceLength(
  point: Pick<QmmPoint, "k" | "mode" | "bits" | "group" | "transposed">,
  { BK, SPLIT }: QmmTile,
): number {
  const { k, transposed } = point;
  const unit = transposed ? Math.max(blockOf(point).GROUP, BK) : BK;
  return slicesOf({ k, split: SPLIT, unit })[0]!.to;
}

/** Bytes of threadgroup memory: x and the decoded weights, both 16 bits wide. */
export function qmmRoom(
  { type, transposed }: QmmPoint,
  tile: MetalTile,
): number {
  return metalRoom(tile, { type, layout: transposed ? "nt" : "nn" });
}

/** The rules of a config, by name. */
export const qmmTileRules: Rules<QmmPoint, QmmTile> = {
  tokens: ({ m }, { BM }) => padding("BM", BM, nextPowerOfTwo(m, 8)),
  rows: ({ n }, { BN }) => padding("BN", BN, nextPowerOfTwo(n, 32)),
  slices(point, config) {
    const length = sliceLength(point, config);
    return emptySlices(point.k, { slices: config.SPLIT, slice: length });
  },
  shared: fitsMemory(qmmRoom, "threadgroup memory, a threadgroup"),
};

/** Of one core of an M3 Max, a microsecond: bytes from memory, fp32 flops, codes decoded. */
const CORE = { bytes: 10e3, flops: 0.35e6, codes: 40e3 };
/** Threads that a core holds so that others' loads are hidden. */
const RESIDENT = 1024;

/**
 * A rough time in µs, of use to order configs: the work of the busiest core, padding included,
 * and the partial sums out and in.
 */
export function predictQmm(
  point: QmmPoint,
  config: QmmTile,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { m, n, bits } = point;
  const { BM, BN, BK, SPLIT } = config;
  const groups = Math.ceil(m / BM) * Math.ceil(n / BN) * SPLIT;
  const depth = sliceLength(point, config);
  const perCore = Math.ceil(groups / units);
  const work = Math.max(
    depth * (BN * bits / 8 + 2 * BM) / CORE.bytes,
    2 * BM * BN * depth / CORE.flops + BN * depth / CORE.codes,
  );
  const beside = RESIDENT / metalThreads(config);
  const waits = 0.6 * Math.ceil(depth / BK) * Math.ceil(perCore / beside);
  const sums = SPLIT > 1 ? 3 + 2 * SPLIT * m * n * 4 / (units * CORE.bytes) : 0;
  return Math.max(perCore * work, waits) + sums;
}

/**
 * The tiles of the decompose-k kernels, the rules that they obey, and which to try first.
 *
 * Both lists are those of the decompose-K study (its baseline and its optimised kernels).
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import { wavesOf } from "../../../bench/model/occupancy.ts";
import type { MatmulPoint } from "../point.ts";
import { LEAST_SLICE } from "../splits.ts";
import { covering } from "../../common/tile_cover.ts";

/** What a partial product is compiled for. */
export interface Tile {
  /** Rows and columns of the output that a block owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  readonly WARPS: number;
  /** K steps in flight or in use. */
  readonly STAGES: number;
}

/** A tile and the order of its blocks. */
export interface OrderedTile extends Tile {
  /** Rows of tiles whose blocks run before those of the next columns. */
  readonly GROUP_M: number;
}

/** A tile and the number of K slices. */
export type TileConfig = Values & OrderedTile & { readonly SPLIT: number };

type Row = readonly [number, number, number, number, number, number];

function tile([BM, BN, BK, GROUP_M, WARPS, STAGES]: Row): OrderedTile {
  return { BM, BN, BK, GROUP_M, WARPS, STAGES };
}

// BM, BN, BK, GROUP_M, WARPS, STAGES.
const BASELINE: readonly Row[] = [
  [16, 16, 128, 8, 4, 4],
  [16, 32, 128, 8, 4, 4],
  [16, 32, 256, 8, 4, 4],
  [16, 64, 64, 8, 4, 4],
  [32, 16, 128, 8, 4, 4],
  [32, 16, 256, 8, 4, 4],
  [32, 32, 128, 8, 4, 4],
  [16, 128, 64, 8, 4, 4],
  [32, 64, 64, 8, 4, 4],
  [32, 128, 64, 8, 4, 4],
  [32, 128, 128, 8, 4, 4],
  [64, 64, 64, 4, 4, 4],
];
const OPTIMIZED: readonly Row[] = [
  [16, 16, 32, 8, 1, 4],
  [16, 16, 64, 8, 2, 4],
  [16, 16, 64, 8, 4, 4],
  [16, 16, 64, 8, 1, 5],
  [16, 16, 128, 8, 2, 4],
  [16, 16, 128, 8, 4, 4],
  [16, 16, 128, 8, 1, 4],
  [16, 16, 128, 8, 1, 5],
  [16, 32, 64, 8, 1, 5],
  [16, 32, 128, 8, 1, 4],
  [32, 16, 64, 8, 1, 5],
  [32, 16, 128, 8, 1, 4],
  [32, 32, 64, 8, 2, 4],
  [32, 32, 128, 8, 2, 4],
  [64, 32, 32, 8, 4, 5],
  [64, 32, 64, 8, 4, 5],
  [64, 32, 128, 8, 4, 5],
  [32, 64, 32, 8, 4, 5],
  [32, 64, 64, 8, 4, 5],
  [32, 64, 128, 8, 4, 5],
  [64, 64, 32, 8, 4, 3],
  [64, 64, 32, 8, 4, 4],
  [64, 64, 64, 8, 4, 3],
  [64, 64, 128, 8, 4, 4],
  [64, 64, 128, 8, 4, 5],
  [64, 64, 64, 8, 8, 5],
  [64, 64, 128, 8, 8, 4],
];

/** The 12 tiles of the decompose-K study's baseline. */
export const baselineTiles = BASELINE.map(tile);
/** The 27 tiles of the decompose-K study's optimised kernel: 14 small, 13 large. */
export const optimizedTiles = OPTIMIZED.map(tile);

/** Bytes of shared memory that a partial product's ring takes. */
export function ringBytes(
  { BM, BN, BK, STAGES }: Tile,
  type: MatmulPoint["type"],
): number {
  return STAGES * (BM + BN) * BK * BYTES[type];
}

/** Blocks of a partial product: rows of a group, columns, groups times slices. */
export function gridOf(
  { m, n }: Pick<MatmulPoint, "m" | "n">,
  { BM, BN, GROUP_M, SPLIT }: TileConfig,
): readonly [number, number, number] {
  const rows = Math.ceil(m / BM);
  const group = Math.min(GROUP_M, rows);
  return [group, Math.ceil(n / BN), Math.ceil(rows / group) * SPLIT];
}

/** The rules of a config, by name. */
export const rules = {
  /** Slices are equal. */
  split: ({ k }, { SPLIT }) =>
    k % SPLIT === 0 ? undefined : `K=${k} is no multiple of SPLIT=${SPLIT}`,
  slice: ({ k }, { SPLIT }) =>
    k / SPLIT >= LEAST_SLICE
      ? undefined
      : `a slice of ${k / SPLIT} is shorter than ${LEAST_SLICE}`,
  shared: ({ type }, config, { sharedBytes }) => {
    const bytes = ringBytes(config, type);
    return bytes <= sharedBytes
      ? undefined
      : `${config.STAGES} stages take ${bytes} bytes of shared memory, a block may have ${sharedBytes}`;
  },
  tile: ({ m, n }, { BM, BN }) => {
    if (BM > covering(m)) return `more than half of BM=${BM} would be padding`;
    if (BN > covering(n)) return `more than half of BN=${BN} would be padding`;
    return undefined;
  },
  step: ({ k }, { BK, SPLIT }) =>
    BK <= covering(k / SPLIT)
      ? undefined
      : `more than half of BK=${BK} would be padding`,
  grid: (point, config) => {
    const [, y, z] = gridOf(point, config);
    return Math.max(y, z) <= MOST_BLOCKS
      ? undefined
      : `a grid of ${y} x ${z} blocks is beyond ${MOST_BLOCKS}`;
  },
} satisfies Record<string, Rule<MatmulPoint, TileConfig>>;

/** The limit of a grid's y and z. */
const MOST_BLOCKS = 65535;

/**
 * A rough time of a config in microseconds, of use only to order configs: what each
 * multiprocessor pulls through its port, what all pull from the cache, the partial sums
 * out and in, and the K steps that wait for one another.
 */
export function predict(
  { m, n, k, type }: Pick<MatmulPoint, "m" | "n" | "k" | "type">,
  config: TileConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { BM, BN, BK, SPLIT } = config;
  const blocks = Math.ceil(m / BM) * Math.ceil(n / BN) * SPLIT;
  const steps = Math.ceil(k / SPLIT / BK);
  const block = (BM + BN) * steps * BK * BYTES[type];
  const { waves } = wavesOf(blocks, units);
  const sums = SPLIT * m * n * 4;
  // Bytes per microsecond: 64 a clock and multiprocessor, 5.5 TB/s from the cache.
  return waves * block / 110e3 + (blocks * block + 2 * sums) / 5.5e6 +
    0.05 * steps + 0.1 * waves;
}

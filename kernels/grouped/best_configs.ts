/**
 * The configs of {@linkcode best}: what they need of a multiprocessor, what makes one
 * impossible, and about how long it takes.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device.ts";
import type { Values } from "../../bench/grid.ts";
import type { Rules } from "../../bench/kernel.ts";
import { type GroupedPoint, realProblems } from "./point.ts";
import { type Cut, pack, ROWS, tilesOf } from "./schedule.ts";

/** The macros of best.cu that are chosen. */
export type BestConfig = Values & Cut & {
  /** Slabs of weights that a lane has in flight. */
  readonly WEIGHTS: number;
};

/** Bytes of shared memory that a block of sm_90 may have. */
const SHARED = 232448;
const SLAB_ROW = 128;
const SCALE_TILE = 512;
/** Weights of a slab: 8 bytes for two rows of each of 256 lanes. */
const WEIGHT_SLAB = 4096;
/** Where each of eight warps turns its results over. */
const PATCHES = 8 * 16 * 48;
/** Two barriers a stage. */
const STAGE_BARRIERS = 16;
const LEAST_STAGES = 3;
/** More hide nothing: these are in flight for longer than memory takes. */
const MOST_STAGES = 16;

/** Slabs of tokens in flight: as many as there is room for. */
export function stagesOf({ MAXN, WEIGHTS }: BestConfig): number {
  const stage = MAXN * SLAB_ROW + SCALE_TILE + STAGE_BARRIERS;
  const room = SHARED - WEIGHTS * WEIGHT_SLAB - PATCHES;
  return Math.min(MOST_STAGES, Math.floor(room / stage));
}

/** Bytes of shared memory of a block. */
export function sharedBytes(config: BestConfig): number {
  const stage = config.MAXN * SLAB_ROW + SCALE_TILE + STAGE_BARRIERS;
  return stagesOf(config) * stage + config.WEIGHTS * WEIGHT_SLAB + PATCHES;
}

/**
 * Clusters that run at once. Four blocks share a part of the device of 16 or 18
 * multiprocessors, of which some are then left over.
 */
export function clustersOf(
  { CLUSTER }: Cut,
  { units }: Pick<DeviceInfo, "units">,
  tiles: number,
): number {
  const most = Math.floor(units / CLUSTER) - (CLUSTER > 2 ? 1 : 0);
  return Math.max(1, Math.min(most, tiles));
}

/** What a config must obey, by name. */
export const rules: Rules<GroupedPoint, BestConfig> = {
  registers(_, { MAXN, STEP }) {
    return MAXN <= 192 || STEP >= 32
      ? undefined
      : `sums of MAXN=${MAXN} in steps of ${STEP}: too many registers`;
  },
  steps(_, { MAXN, STEP }) {
    return MAXN % STEP === 0
      ? undefined
      : `MAXN=${MAXN} is no multiple of STEP=${STEP}`;
  },
  tokens(point, { MAXN, STEP }) {
    const most = Math.max(...realProblems(point).map(({ m }) => m));
    return MAXN - STEP < most || MAXN <= 64
      ? undefined
      : `no problem has more than ${MAXN - STEP} tokens`;
  },
  cluster(point, { CLUSTER }) {
    const most = Math.max(...realProblems(point).map(({ n }) => n));
    return CLUSTER === 1 || (CLUSTER - 1) * ROWS < most
      ? undefined
      : `${CLUSTER} blocks of ${ROWS} weights, no problem has more than ${most}`;
  },
  shared(_, config) {
    const stages = stagesOf(config);
    return stages >= LEAST_STAGES
      ? undefined
      : `shared memory has room for ${stages} stages, ${LEAST_STAGES} are the least`;
  },
};

/** Clocks a µs under the load of tensor cores, and bytes a µs out of the cache. */
const MHZ = 1600;
const CACHE = 5.5e6;
/** Launches, and tokens.cu before them. */
const FIXED_US = 5;

/** A rough time in µs, of use to order configs. */
export function predict(
  point: GroupedPoint,
  config: BestConfig,
  info: Pick<DeviceInfo, "units">,
): number {
  const problems = realProblems(point);
  const tiles = tilesOf(problems, config);
  const { clocks } = pack(tiles, clustersOf(config, info, tiles.length));
  const bytes = tiles.reduce(
    (sum, { problem, cols }) =>
      sum + problems[problem]!.k / 64 *
        (cols * SLAB_ROW + config.CLUSTER * (WEIGHT_SLAB + SCALE_TILE)),
    0,
  );
  return FIXED_US + Math.max(clocks / MHZ, bytes / CACHE) +
    0.02 * Math.abs(config.WEIGHTS - 8);
}

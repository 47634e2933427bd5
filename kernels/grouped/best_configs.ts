/**
 * The configs of {@linkcode best}: what they need of a multiprocessor, what makes one
 * impossible, and about how long it takes.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device.ts";
import type { Values } from "../../bench/grid.ts";
import type { Rules } from "../../bench/kernel.ts";
import { type GroupedPoint, realProblems, type Sizes } from "./point.ts";
import { pack, type Tile, tilesOf } from "./schedule.ts";
import { balancedParts } from "./splits.ts";

/** The macros of best.cu that are chosen. */
export type BestConfig = Values & {
  /** Tokens of a tile, at most and in steps of. */
  readonly MAXN: number;
  readonly STEP: number;
  /** Parts of K that warpgroups of a block share: 1 or 2. */
  readonly KGROUPS: number;
  /** Blocks that share the tokens of a tile. */
  readonly CLUSTER: number;
  /** Slabs that a warp has places for, and that it copies at a time. */
  readonly WEIGHTS: number;
  readonly SPAN: number;
};

/** Warps that multiply, of 16 rows of weights each. */
const [WARPS, WARP_ROWS] = [16, 16];
/** Bytes of shared memory that a block of sm_90 may have. */
const SHARED = 232448;
/** Bytes of a row of a slab: of decoded tokens, of weights and of their scales. */
const [TOKEN_ROW, WEIGHT_ROW, SCALE_ROW] = [128, 32, 4];
/** Where each warp turns its results over. */
const PATCHES = WARPS * 16 * 48;
/** Two barriers a stage. */
const STAGE_BARRIERS = 16;
/** More hide nothing: these are in flight for longer than memory takes. */
const MOST_STAGES = 16;
/** Tokens whose products take as long as decoding: fewer are no faster. */
const DECODED = 48;

/** Rows of weights of a block. */
export function rowsOf({ KGROUPS }: BestConfig): number {
  return WARPS * WARP_ROWS / KGROUPS;
}

/** Tokens of the smallest tile, which is compiled as all sizes are. */
export function leastOf({ MAXN, STEP }: BestConfig): number {
  return MAXN - Math.floor(Math.max(0, MAXN - DECODED) / STEP) * STEP;
}

/** Bytes of a stage. */
function stageBytes(config: BestConfig): number {
  return config.MAXN * TOKEN_ROW + rowsOf(config) * SCALE_ROW + STAGE_BARRIERS;
}

/** Bytes besides the stages. */
function restBytes({ MAXN, KGROUPS, WEIGHTS }: BestConfig): number {
  const weights = WARPS * WARP_ROWS * WEIGHT_ROW * WEIGHTS;
  // Half of the sums of half of the warps.
  const meetings = KGROUPS === 1
    ? 0
    : Math.ceil(MAXN / 16) * 512 * WARPS / KGROUPS;
  return weights + PATCHES + meetings;
}

/**
 * Slabs of tokens in flight: as many as there is room for. Those of each part of K have stages
 * of their own.
 */
export function stagesOf(config: BestConfig): number {
  const { KGROUPS } = config;
  const room = SHARED - restBytes(config);
  const most = Math.min(MOST_STAGES, Math.floor(room / stageBytes(config)));
  return Math.floor(most / KGROUPS) * KGROUPS;
}

/** Bytes of shared memory of a block. */
export function sharedBytes(config: BestConfig): number {
  return stagesOf(config) * stageBytes(config) + restBytes(config);
}

/**
 * Clusters that run at once. Four blocks share a part of the device of 16 or 18
 * multiprocessors, of which some are then left over.
 */
export function clustersOf(
  { CLUSTER }: BestConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const most = Math.floor(units / CLUSTER) - (CLUSTER > 2 ? 1 : 0);
  return Math.max(1, most);
}

/** What a config must obey, by name. */
export const rules: Rules<GroupedPoint, BestConfig> = {
  tokens(point, { MAXN }) {
    const most = Math.max(...realProblems(point).map(({ m }) => m));
    return MAXN < 2 * most || MAXN <= 64
      ? undefined
      : `no problem has more than ${most} tokens, half of MAXN=${MAXN}`;
  },
  cluster(point, config) {
    const most = Math.max(...realProblems(point).map(({ n }) => n));
    const rows = rowsOf(config);
    return config.CLUSTER === 1 || (config.CLUSTER - 1) * rows < most
      ? undefined
      : `${config.CLUSTER} blocks of ${rows} weights, no problem has more than ${most}`;
  },
};

/** Clocks a µs under the load of tensor cores, and bytes a µs out of the cache. */
const [MHZ, CACHE] = [1600, 5.5e6];
/** Launches, and tokens.cu before them. */
const FIXED_US = 5;
/** Clocks of 16 warps to decode a slab: 126 instructions each, four warps to a scheduler. */
const DECODE = 504;
/** Bytes a clock that a multiprocessor gets of the cache. */
const BYTES = 40;
/** Clocks to fill the pipeline, and to store a token. */
const [TILE, TOKEN] = [1500, 10];

/** About how many clocks a tile takes. */
function tileClocks(cols: number, k: number, config: BestConfig): number {
  const rows = rowsOf(config);
  // A column of 64 rows takes half a clock a product, a slab has four.
  const tensor = rows / 64 * 2 * cols;
  const bytes = cols * TOKEN_ROW + rows * (WEIGHT_ROW + SCALE_ROW);
  const slab = Math.max(tensor, DECODE / config.KGROUPS, bytes / BYTES);
  return TILE + k / 64 * slab + TOKEN * cols;
}

/** Which tiles there are, and which cluster computes which of them, heaviest first. */
export interface Schedule {
  readonly tiles: readonly Tile[];
  /** The tiles of each cluster that has any. */
  readonly bins: readonly (readonly Tile[])[];
  /** Clocks of the fullest bin. */
  readonly clocks: number;
}

/** Cuts all problems into tiles and deals them out. */
export function scheduleOf(
  problems: readonly Sizes[],
  config: BestConfig,
  info: Pick<DeviceInfo, "units">,
): Schedule {
  const bins = clustersOf(config, info);
  const rows = rowsOf(config) * config.CLUSTER;
  const clocksOf = (cols: number, k: number) => tileClocks(cols, k, config);
  const { MAXN, STEP } = config;
  const sizes = { MAXN, STEP, LEAST: leastOf(config) };
  const partsOf = balancedParts({ problems, rows, sizes, bins, clocksOf });
  const tiles = tilesOf(problems, { rows, partsOf, clocksOf });
  return { tiles, ...pack(tiles, Math.min(bins, tiles.length)) };
}

/** A rough time in µs, of use to order configs. */
export function predict(
  point: GroupedPoint,
  config: BestConfig,
  info: Pick<DeviceInfo, "units">,
): number {
  const problems = realProblems(point);
  const { tiles, clocks } = scheduleOf(problems, config, info);
  const own = config.CLUSTER * rowsOf(config) * (WEIGHT_ROW + SCALE_ROW);
  const bytes = tiles.reduce(
    (sum, { problem, cols }) =>
      sum + problems[problem]!.k / 64 * (cols * TOKEN_ROW + own),
    0,
  );
  return FIXED_US + Math.max(clocks / MHZ, bytes / CACHE) +
    0.01 * Math.abs(config.SPAN - 4);
}

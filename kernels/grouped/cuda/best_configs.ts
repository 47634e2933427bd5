/**
 * The configs of the kernel `best`: shared memory, rules, schedules, and a model of the time.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Rules } from "../../../bench/model/kernel.ts";
import { BLOCK_SHARED_BYTES } from "../../common/sm90.ts";
import { type GroupedPoint, realProblems, type Sizes } from "../point.ts";
import {
  type Costs,
  pack,
  type Piece,
  streamed,
  type Tile,
  tilesOf,
  whole,
} from "./schedule.ts";
import { balancedParts, splitCandidates } from "./splits.ts";

/** Bytes of a row of decoded tokens of a slab. */
const TOKEN_ROW = 128;
/** Bytes of a row of weights of a slab. */
const WEIGHT_ROW = 32;
/** Bytes of a row of scales of a slab. */
const SCALE_ROW = 4;
/**
 * Clocks of a slab of 256 rows, and of each of its columns more: by these list A was packed best on
 * an H200. Blocks with one tile each of 48 to 128 columns take 890 to 1370 clocks a slab.
 */
const [SLAB, COLUMN] = [420, 5];
/** Clocks of the products of 256 rows with a column. */
const PRODUCTS = 8;
/** Bytes a clock that a multiprocessor gets of the cache. */
const BYTES = 40;
/** Clocks to fill the pipeline, and to store a token. */
const [TILE, TOKEN] = [1000, 15];
/** Clocks to write or to add the sums of a piece of a tile, and of each token of it. */
const [PIECE, SUM] = [2000, 25];

/** About how many clocks a tile takes besides its slabs, each of these, and to be cut. */
function costsOf(
  cols: number,
  rows: number,
): Costs {
  const bytes = cols * TOKEN_ROW + rows * (WEIGHT_ROW + SCALE_ROW);
  const slab = Math.max(
    Math.max(SLAB + COLUMN * cols, PRODUCTS * cols) * rows / 256,
    bytes / BYTES,
  );
  return { fixed: TILE + TOKEN * cols, slab, piece: PIECE + SUM * cols };
}

/** The macros of best.cu that are chosen. */
export type BestConfig = Values & {
  /** Tokens of a tile, at most and in steps of. */
  readonly MAXN: number;
  readonly STEP: number;
  /** Warpgroups of a block that multiply, 64 rows of weights each. */
  readonly WARPGROUPS: number;
  /** 1: tiles may be cut along K too. */
  readonly PIECES: number;
};

/** Warps of a warpgroup, and rows of weights of each. */
const [WARPS, WARP_ROWS] = [4, 16];
/** Bytes in which a warp transposes its results. */
const PATCH = 16 * 48;
/** Two barriers a stage. */
const STAGE_BARRIERS = 16;
/** More hide nothing: these are in flight for longer than memory takes. */
const MOST_STAGES = 8;
/** Tokens whose products take as long as decoding: fewer are no faster. */
const DECODED = 48;

/** Warps of a block that multiply. */
export function warpsOf({ WARPGROUPS }: BestConfig): number {
  return WARPGROUPS * WARPS;
}

/** Rows of weights of a block. */
function rowsOf(config: BestConfig): number {
  return warpsOf(config) * WARP_ROWS;
}

/** Tokens of the smallest tile, which is compiled as all sizes are. */
export function leastOf({ MAXN, STEP }: BestConfig): number {
  return MAXN - Math.floor(Math.max(0, MAXN - DECODED) / STEP) * STEP;
}

/** Bytes of a stage: two slabs. */
function stageBytes(config: BestConfig): number {
  const weights = rowsOf(config) * (WEIGHT_ROW + SCALE_ROW);
  return 2 * (config.MAXN * TOKEN_ROW + weights) + STAGE_BARRIERS;
}

/** Bytes besides the stages. */
function restBytes(config: BestConfig): number {
  return warpsOf(config) * PATCH;
}

/** Stages: as many as there is room for. */
export function stagesOf(config: BestConfig): number {
  const room = BLOCK_SHARED_BYTES - restBytes(config);
  return Math.min(MOST_STAGES, Math.floor(room / stageBytes(config)));
}

/** Bytes of shared memory of a block. */
export function sharedBytes(config: BestConfig): number {
  return stagesOf(config) * stageBytes(config) + restBytes(config);
}

/** The rules of a config, by name. */
export const rules: Rules<GroupedPoint, BestConfig> = {
  tokens(point, { MAXN }) {
    const most = Math.max(...realProblems(point).map(({ m }) => m));
    return MAXN < 2 * most || MAXN <= 64
      ? undefined
      : `no problem has more than ${most} tokens, half of MAXN=${MAXN}`;
  },
};

/** Clocks a µs under the load of tensor cores, and bytes a µs out of the cache. */
const [MHZ, CACHE] = [1600, 6.5e6];
/** Launches, tokens.cu, and the first copies. */
const FIXED_US = 10;

/** All tiles, heaviest first, and the block that computes each. */
export interface Schedule {
  readonly tiles: readonly Tile[];
  /** The pieces that each block computes; blocks without any are left out. */
  readonly bins: readonly (readonly Piece[])[];
  /** Clocks of the fullest bin. */
  readonly clocks: number;
}

/** Cuts all problems into tiles and deals them out. */
export function scheduleOf(
  problems: readonly Sizes[],
  config: BestConfig,
  info: Pick<DeviceInfo, "units">,
): Schedule {
  const { units: bins } = info;
  const rows = rowsOf(config);
  const clocksOf = (cols: number, k: number) => {
    const { fixed, slab } = costsOf(cols, rowsOf(config));
    return fixed + k / 64 * slab;
  };
  const { MAXN, STEP } = config;
  const sizes = { MAXN, STEP, LEAST: leastOf(config) };
  const slabsOf = ({ problem }: Tile) => problems[problem]!.k / 64;
  if (config.PIECES) {
    const parts = problems.map(({ m, k }) =>
      cheapest(splitCandidates(m, sizes), (cols) => clocksOf(cols, k))
    );
    const tiles = tilesOf(problems, {
      rows,
      partsOf: (i) => parts[i]!,
      clocksOf,
    });
    const costs = ({ cols }: Tile) => costsOf(cols, rowsOf(config));
    return { tiles, ...streamed({ tiles, bins, slabsOf, costsOf: costs }) };
  }
  const partsOf = balancedParts({ problems, rows, sizes, bins, clocksOf });
  const tiles = tilesOf(problems, { rows, partsOf, clocksOf });
  const packed = pack(tiles, Math.min(bins, tiles.length));
  return {
    tiles,
    bins: packed.bins.map((bin) =>
      bin.map((tile) => whole(tile, slabsOf(tile)))
    ),
    clocks: packed.clocks,
  };
}

/** The way to cut that costs least. */
function cheapest(
  ways: readonly number[][],
  clocksOf: (cols: number) => number,
): number[] {
  const clocks = ways.map((way) =>
    way.reduce((sum, cols) => sum + clocksOf(cols), 0)
  );
  return ways[clocks.indexOf(Math.min(...clocks))]!;
}

/** A rough time in µs, of use to order configs. */
export function predict(
  point: GroupedPoint,
  config: BestConfig,
  info: Pick<DeviceInfo, "units">,
): number {
  const problems = realProblems(point);
  const { tiles, clocks } = scheduleOf(problems, config, info);
  const own = rowsOf(config) * (WEIGHT_ROW + SCALE_ROW);
  const bytes = tiles.reduce(
    (sum, { problem, cols }) =>
      sum + problems[problem]!.k / 64 * (cols * TOKEN_ROW + own),
    0,
  );
  return FIXED_US + Math.max(clocks / MHZ, bytes / CACHE);
}

/**
 * The tiles of the tensor-core kernels: warps, K steps, slices of K, and the rules that they obey.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { Rules } from "../../../bench/model/kernel.ts";
import { blockOf, type QmmPoint } from "../point.ts";
import {
  emptySlices,
  fitsGrid,
  fitsMemory,
  nextPowerOfTwo,
  padding,
} from "../../common/rules.ts";

/** The tunables of qmm.cu. */
export type TileConfig = Values & {
  /** Tokens of a tile: 1, or a multiple of 8. */
  readonly BM: number;
  /** 16-row tiles of weights that a warp has. */
  readonly RT: number;
  /** Warps that share a K step, each with rows of its own. */
  readonly WN: number;
  /** Groups of such warps, each with K steps of its own. */
  readonly WK: number;
  /** The K step. */
  readonly KS: number;
  /** K steps that a group of warps has under way. */
  readonly STAGES: number;
  /** Blocks of a cluster: slices of K. */
  readonly CLUSTER: number;
};

/** Products' columns of tokens, 8 each. */
export function columnsOf({ BM }: TileConfig): number {
  return Math.ceil(BM / 8);
}

/** Rows of weights of a tile. */
export function rowsOf({ RT, WN }: TileConfig): number {
  return 16 * RT * WN;
}

/** K of a block: whole steps, the last block's may be fewer, and the last step ragged. */
export function sliceOf({ k }: QmmPoint, { KS, CLUSTER }: TileConfig): number {
  return Math.ceil(k / KS / CLUSTER) * KS;
}

/** Tiles along N and along M. */
export function tilesOf(
  { m, n }: QmmPoint,
  config: TileConfig,
): readonly [number, number] {
  return [Math.ceil(n / rowsOf(config)), Math.ceil(m / config.BM)];
}

/** Threads of a block. */
export function threadsOf({ WN, WK }: TileConfig): number {
  return 32 * WN * WK;
}

/** K steps that the busiest group of warps has. */
export function stepsOf(point: QmmPoint, config: TileConfig): number {
  return Math.ceil(sliceOf(point, config) / config.KS / config.WK);
}

/** Returns whether no code lies across two words. */
function isPower(bits: number): boolean {
  return 32 % bits === 0;
}

/** Bytes of shared memory, as qmm_ring.cuh lays it out. */
export function sharedBytes(point: QmmPoint, config: TileConfig): number {
  const { mode, bits } = point;
  const { GROUP, CHANNEL } = blockOf(point);
  const { BM, KS, STAGES, WK, CLUSTER } = config;
  const bn = rowsOf(config);
  const folded = mode === "nvfp4";
  const power = isPower(bits);
  const octets = (GROUP >= 64 || folded) && power ? 2 : 1;
  const quad = power ? Math.max(16, 4 * octets * bits) : 16;
  const weights = (Math.ceil(KS * bits / 8 / quad) | 1) * quad;
  const tokens = 2 * KS + (octets === 1 ? 64 : 16);
  const ring = WK * STAGES * (bn * weights + BM * tokens);
  const sums = WK * BM * (bn + 4) * 4;
  const share = Math.ceil(BM * bn / 4 / CLUSTER);
  const mail = CLUSTER > 1 ? CLUSTER * share * 16 + 16 : 0;
  const [per, arrays] = mode === "affine" ? [8, 2] : [16, 1];
  const groups = CHANNEL ?? sliceOf(point, config) / GROUP;
  const pitch = (Math.floor((groups + 2 * per - 2) / per) | 1) * 16;
  const table = arrays * bn * pitch;
  return Math.max(ring, sums) + mail + table;
}

/** The rules of a config, by name. */
export const tileRules: Rules<QmmPoint, TileConfig> = {
  tokens({ m }, { BM }) {
    if ((BM === 1) !== (m === 1)) {
      return `BM=${BM} for M=${m}: a tile of one token is for one token`;
    }
    const most = nextPowerOfTwo(m, 8);
    if (BM > most) return padding("BM", BM, most);
    const three = m > 16 && m <= 24;
    if ((BM === 24) !== three && BM > 16) {
      return `BM=${BM}: M=${m} takes BM=${three ? 24 : 32}, or less`;
    }
    return BM === 1 || 2 * BM >= Math.min(64, most)
      ? undefined
      : `BM=${BM} reads the weights ${Math.ceil(m / BM)} times`;
  },
  rows({ n }, config) {
    const bn = rowsOf(config);
    return bn <= Math.max(64, nextPowerOfTwo(n, 8))
      ? undefined
      : `more than half of ${bn} rows of weights would be padding`;
  },
  registers({ bits }, config) {
    const { RT, WN, WK } = config;
    // Bytes and codes across words take more of them, and so do twice the warps.
    const many = WN * WK > 8;
    const most = bits === 4 || bits === 2 ? (many ? 4 : 16) : many ? 2 : 8;
    const sums = RT * columnsOf(config);
    return sums <= most
      ? undefined
      : `${sums} products of 16 x 8 leave a warp too few registers, ${most} do`;
  },
  few({ k }, { WN, WK }) {
    return WN * WK > 4 || WN === 1 || k < 2048
      ? undefined
      : `${WN} x ${WK} warps are for a short K: four groups of one read x once`;
  },
  slices(point, config, { units }) {
    const slice = sliceOf(point, config);
    const [x, y] = tilesOf(point, config);
    const fewer = x * y * (config.CLUSTER - 1);
    if (fewer > 1.5 * units) {
      return `${fewer} blocks fill ${units} multiprocessors without the last of ${config.CLUSTER} slices`;
    }
    return emptySlices(point.k, { slices: config.CLUSTER, slice });
  },
  stages(point, { STAGES, ...rest }) {
    const steps = stepsOf(point, { STAGES, ...rest });
    if (STAGES > steps) {
      return `STAGES=${STAGES} for ${steps} steps of a group of warps`;
    }
    return STAGES > 1 || steps === 1
      ? undefined
      : `one stage has nothing under way while one of ${steps} steps is multiplied`;
  },
  idle(point, config) {
    const steps = sliceOf(point, config) / config.KS;
    return 4 * steps >= 3 * config.WK || config.WK <= 2
      ? undefined
      : `${config.WK} groups of warps for ${steps} steps of KS=${config.KS}`;
  },
  shared: fitsMemory(sharedBytes),
  grid: fitsGrid(tilesOf),
};

/**
 * The configs of the split-K family and the rules that they obey.
 *
 * Parameters, limits and names are those of AITER's FlyDSL split-K GEMM, whose rules stand
 * here under names of their own, with the reason that each gives.
 *
 * @module
 */

import type { DeviceInfo } from "../../../../bench/device/device.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import type { Rule } from "../../../../bench/model/kernel.ts";
import { wavesOf } from "../../../../bench/model/occupancy.ts";
import { fitsMemory, tableOf } from "../../../common/rules.ts";
import type { MatmulPoint } from "../../point.ts";

/** The tunables of a split-K kernel. */
export type SplitkConfig = Values & {
  /** Rows, columns and K step of a block. */
  readonly TM: number;
  readonly TN: number;
  readonly TK: number;
  /** Places of the ring in the local data share. */
  readonly STAGES: number;
  readonly SPLIT: number;
  /** Waves along rows, columns and the K step. */
  readonly WAVES_M: number;
  readonly WAVES_N: number;
  readonly WAVES_K: number;
  /** Whether copies go past the registers: 1 or 0. */
  readonly ASYNC: number;
  /** Whether B goes through the local data share: 1 or 0. */
  readonly B_TO_LDS: number;
};

/** Whether 16-bit sums are added to C, or fp32 ones to a workspace. */
export type Protocol = "atomic" | "partials";

/** Lanes of a wave. */
const WAVE = 64;
/** K of a product whose operands are 16 bytes a lane: two 16 x 16 x 16, or one 16 x 16 x 32. */
const ATOM_K = 32;
/** The bytes that a lane copies at once past the registers; 0 where it cannot. */
function copyBytes(arch: string): number {
  return arch === "gfx950" ? 16 : arch.startsWith("gfx94") ? 4 : 0;
}
/** Copies that the counter of a wave can tell apart. */
const MOST_IN_FLIGHT = 63;
/** Tiles that have counters. */
const MOST_TILES = 256;

/** Threads of a block. */
export function threadsOf({ WAVES_M, WAVES_N, WAVES_K }: SplitkConfig): number {
  return WAVE * WAVES_M * WAVES_N * WAVES_K;
}

/** Bytes of the local data share: the ring, or where waves of a block meet. */
export function splitkLds(config: SplitkConfig, protocol: Protocol): number {
  const { TM, TN, TK, STAGES, WAVES_K, B_TO_LDS } = config;
  const ring = 2 * STAGES * TK * (TM + (B_TO_LDS ? TN : 0));
  const sums = (protocol === "atomic" ? 2 : 4) * WAVES_K * TM * TN;
  return Math.max(ring, sums);
}

/** Tiles of the output. */
export function tilesOf(
  { m, n }: Pick<MatmulPoint, "m" | "n">,
  { TM, TN }: Pick<SplitkConfig, "TM" | "TN">,
): number {
  return Math.ceil(m / TM) * (n / TN);
}

type SplitkRule = Rule<MatmulPoint, SplitkConfig>;

/** The rules of a config, by name. */
export function splitkRules(
  protocol: Protocol,
): Readonly<Record<string, SplitkRule>> {
  return {
    stages: (_, { STAGES }) =>
      STAGES >= 2 ? undefined : `a ring needs 2 stages, not ${STAGES}`,
    columns: ({ n }, { TN }) =>
      n >= TN && n % TN === 0 ? undefined : `N=${n} is no multiple of TN=${TN}`,
    split: ({ k }, { SPLIT }) =>
      k % SPLIT === 0 ? undefined : `K=${k} is no multiple of SPLIT=${SPLIT}`,
    slice: ({ k }, { SPLIT, TK }) =>
      k / SPLIT % TK === 0
        ? undefined
        : `a slice of ${k / SPLIT} is no multiple of TK=${TK}`,
    fill: ({ k }, { SPLIT, TK, STAGES }) =>
      k / SPLIT / TK >= STAGES
        ? undefined
        : `a slice of ${
          k / SPLIT / TK
        } steps does not fill the ring of ${STAGES}`,
    step: (_, { TK }) =>
      TK >= 32 && TK % 32 === 0 ? undefined : `TK=${TK} is no multiple of 32`,
    wavesM: (_, { TM, WAVES_M }) =>
      TM % (16 * WAVES_M) === 0
        ? undefined
        : `${TM} rows are not shared by ${WAVES_M} waves in sixteens`,
    wavesN: (_, { TN, WAVES_N }) =>
      TN % (16 * WAVES_N) === 0
        ? undefined
        : `${TN} columns are not shared by ${WAVES_N} waves in sixteens`,
    wavesK: (_, { TK, WAVES_K }) =>
      TK % (ATOM_K * WAVES_K) === 0
        ? undefined
        : `TK=${TK} is not shared by ${WAVES_K} waves in products of ${ATOM_K}`,
    waves: (_, config) =>
      threadsOf(config) <= 16 * WAVE
        ? undefined
        : `${threadsOf(config)} threads are more than a block may have`,
    vectors: (_, config) => {
      const { TM, TN, TK } = config;
      const lanes = 8 * threadsOf(config);
      return [TM * TK, TN * TK, TM * TN].every((size) => size % lanes === 0)
        ? undefined
        : `${
          threadsOf(config)
        } threads do not share tiles of ${TM} x ${TN} x ${TK} in eights`;
    },
    size: (_, { TM, TN, TK }) =>
      TM * TN * TK <= 256 * 256 * 64
        ? undefined
        : `a tile of ${TM} x ${TN} x ${TK} is larger than 256 x 256 x 64`,
    square: (_, { TM, TN, TK, SPLIT, STAGES }) =>
      TM !== 256 || TN !== 256 || (TK === 64 && SPLIT === 1 && STAGES === 2)
        ? undefined
        : "a tile of 256 x 256 goes with TK=64, SPLIT=1 and STAGES=2 alone",
    lds: fitsMemory(
      (_, config) => splitkLds(config, protocol),
      "the local data share, a block",
    ),
    flight: (_, config, { arch }) => {
      const { TM, TN, TK, STAGES, B_TO_LDS, ASYNC } = config;
      const bytes = 2 * TK * (TM + (B_TO_LDS ? TN : 0));
      const each = (copyBytes(arch) || 4) * threadsOf(config);
      const copies = (STAGES - 2) * bytes / each;
      return !ASYNC || copies < MOST_IN_FLIGHT
        ? undefined
        : `${copies} copies in flight are more than the counter's ${MOST_IN_FLIGHT}`;
    },
    counters: (point, config) =>
      config.SPLIT === 1 || tilesOf(point, config) <= MOST_TILES
        ? undefined
        : `${
          tilesOf(point, config)
        } tiles share K, and there are counters for ${MOST_TILES}`,
    // Ours, not AITER's.
    dma: (_, { ASYNC }, { arch }) =>
      !ASYNC || copyBytes(arch) > 0
        ? undefined
        : `${arch} cannot copy to the local data share past the registers: gfx942 and gfx950 can`,
    counted: (_, { ASYNC, B_TO_LDS }) =>
      !ASYNC || B_TO_LDS
        ? undefined
        : "B in registers makes the compiler wait for copies that it does not count",
    ahead: (_, { ASYNC, STAGES }) =>
      ASYNC || STAGES === 2
        ? undefined
        : "copies through registers are one step ahead: two stages hold them",
  };
}

const SPLITS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
/** Waves along M, N and the K step: nearly all that won for AITER on an MI355X. */
const WAVES = tableOf(["WAVES_M", "WAVES_N", "WAVES_K"], [
  [1, 2, 1],
  [1, 1, 2],
  [1, 4, 1],
  [1, 2, 2],
  [2, 2, 1],
  [1, 1, 1],
  [2, 1, 1],
  [1, 4, 2],
  [1, 1, 4],
  [2, 1, 2],
  [2, 2, 2],
  [2, 4, 1],
  [4, 2, 1],
  [4, 1, 1],
]);

/**
 * The configs to look at: small tiles, as AITER's winners have, in its ranges. Rows beyond
 * twice M would be padding. Columns of 256 need more than 64 KiB.
 */
export function* splitkConfigs(
  { m }: Pick<MatmulPoint, "m">,
  { sharedBytes }: Pick<DeviceInfo, "sharedBytes">,
): Generator<SplitkConfig> {
  const most = Math.max(16, 16 * Math.ceil(m / 16));
  const columns = sharedBytes > 65536 ? [64, 128, 256] : [64, 128];
  for (const TM of [16, 32, 48, 64, 80, 96, 128].filter((t) => t <= most)) {
    for (const TN of columns) {
      for (const TK of [64, 128, 256]) {
        for (const waves of WAVES) {
          if (TM % (16 * waves.WAVES_M) !== 0) continue;
          for (const SPLIT of SPLITS) {
            const tile = { TM, TN, TK, SPLIT, ...waves };
            for (const STAGES of [2, 3, 4, 5, 6, 7, 8]) {
              yield { ...tile, STAGES, ASYNC: 1, B_TO_LDS: 1 };
            }
            yield { ...tile, STAGES: 2, ASYNC: 0, B_TO_LDS: 1 };
            yield { ...tile, STAGES: 2, ASYNC: 0, B_TO_LDS: 0 };
          }
        }
      }
    }
  }
}

/**
 * Constants of the model of each GPU. In µs: `launch`, `refill` (the ring is filled again for the next
 * tile), `step` (of K), `meeting` (the splits of a tile add their sums). Per µs: `bytes` and bf16
 * `flops` of a compute unit, bytes of `memory`, bytes of the `sums` that splits write and read.
 *
 * gfx942: AMD's data sheet of the MI300X (2.1 GHz, 1307 Tflop/s, 5.3 TB/s) and guesses. gfx950: the
 * data sheet's flops of the MI355X; the rest is fitted to the times that AITER publishes for the
 * 618 configs that won there (results/published).
 */
const GPUS = {
  gfx942: {
    launch: 0,
    refill: 0.9,
    step: 0.02,
    meeting: 1.5,
    bytes: 134.4e3,
    flops: 4.3e6,
    memory: 4.3e6,
    sums: 5e6,
  },
  gfx950: {
    launch: 2,
    refill: 0.2,
    step: 0.02,
    meeting: 1.6,
    bytes: 85e3,
    flops: 9.8e6,
    memory: 7.2e6,
    sums: 0.94e6,
  },
} as const;

/**
 * A rough time in microseconds, of use only to order configs: rounds of blocks at what a unit
 * pulls and multiplies (as many blocks to a unit as its local data share holds), no less than
 * what memory delivers; the steps that wait for one another; and the splits that meet. No such
 * device was at hand.
 */
export function predictSplitk(
  { m, n, k }: Pick<MatmulPoint, "m" | "n" | "k">,
  config: SplitkConfig,
  { arch, units, sharedBytes }: Pick<
    DeviceInfo,
    "arch" | "units" | "sharedBytes"
  >,
): number {
  const gpu = arch === "gfx950" ? GPUS.gfx950 : GPUS.gfx942;
  const { TM, TN, TK, SPLIT, STAGES } = config;
  const lds = splitkLds(config, "partials");
  const shared = Math.max(1, Math.min(4, Math.floor(sharedBytes / lds)));
  const blocks = tilesOf({ m, n }, config) * SPLIT;
  const { waves } = wavesOf(blocks, units, shared);
  const steps = k / SPLIT / TK;
  // Blocks that share a unit share its port and its multipliers.
  const bytes = Math.min(shared, Math.ceil(blocks / units)) * 2 * (TM + TN) *
    k / SPLIT;
  const flops = bytes / (TM + TN) * TM * TN;
  return gpu.launch + Math.max(
    waves * bytes / gpu.bytes,
    waves * flops / gpu.flops,
    2 * (m + n) * k / gpu.memory,
  ) + gpu.refill * Math.ceil(steps / STAGES) + gpu.step * steps +
    (SPLIT > 1 ? gpu.meeting : 0) + 4 * SPLIT * m * n / gpu.sums;
}

/**
 * The host side of kernels that multiply tiles of weights by wgmma, from a ring of copies by tensor
 * maps, with K shared by a cluster: their tunables, the division of the work, the configs to try and
 * a rough time.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import type { LaunchShape } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { grid, type Values } from "../../bench/model/grid.ts";
import type { Rule } from "../../bench/model/kernel.ts";
import { blocksPerUnit } from "../../bench/model/occupancy.ts";
import { emptySlices, fitsGrid, fitsMemory } from "./rules.ts";
import { CLOCKS_PER_US, clustersAtOnce, UNIT_SHARED_BYTES } from "./sm90.ts";

/** The tunables. BM tiles the weights (N) and BN the activations (M): the reverse of the usual names. */
export type RingConfig = Values & {
  /** Rows of weights of a tile. */
  readonly BM: number;
  /** Rows of activations of a tile. */
  readonly BN: number;
  /** K of a step. */
  readonly BK: number;
  /** Warps that multiply. */
  readonly WARPS: number;
  /** Blocks that share K. */
  readonly CLUSTER: number;
  /** Blocks of a multiprocessor, for which shared memory is left. */
  readonly RESIDENT: number;
};

/** Rows of activations, rows of weights, and what both have of K. */
export interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Returns how a config divides the work: tiles along N and M, and the K steps of a block. */
export function tilingOf({ m, n, k }: Sizes, config: RingConfig) {
  const { BM, BN, BK, CLUSTER } = config;
  const steps = Math.ceil(k / CLUSTER / BK);
  return {
    tilesN: Math.ceil(n / BM),
    tilesM: Math.ceil(m / BN),
    /** K steps of a block, and the elements of K that they have together. */
    steps,
    slice: steps * BK,
  };
}

/** The most K steps in flight: a multiprocessor cannot have more bytes in flight. */
const MOST_STAGES = 12;

/** Rows of a wgmma instruction; each of the four warps has 16 of them. */
export const WGMMA_ROWS = 64;
/** The most threads of a block. */
const MOST_THREADS = 1024;

/** The resources that a config takes of a multiprocessor. */
export interface RingNeeds {
  /** Bytes of shared memory of a block: of a K step of the ring, and of all outside the ring. */
  readonly step: number;
  readonly beside: number;
  /** Estimated registers of a thread that multiplies. */
  readonly registers: number;
}

/** Returns the stages of the ring: all K steps of a block, or as many as shared memory holds. */
export function stagesOf(
  sizes: Sizes,
  config: RingConfig,
  { step, beside }: RingNeeds,
): number {
  const own = Math.floor(UNIT_SHARED_BYTES / config.RESIDENT) - 1024;
  const { steps } = tilingOf(sizes, config);
  const room = Math.floor((own - beside) / step);
  return Math.max(1, Math.min(room, steps, MOST_STAGES));
}

/** Returns why a block of a cluster of `size` would have no part of K; undefined if each has one. */
export function emptyBlocks(
  k: number,
  size: number,
  BK: number,
): string | undefined {
  return emptySlices(k, {
    slices: size,
    slice: Math.ceil(k / size / BK) * BK,
  });
}

/**
 * Returns whether each of `size` blocks of a cluster owns whole slots of a thread's sums, as `BY_SLOT`
 * of cluster_reduce.cuh says.
 */
export function ownsWholeSlots(slots: number, size: number): boolean {
  return size === 1 || slots % size === 0 || slots >= (size - 1) ** 2;
}

/** Registers of one of the four parts (SMSPs) of a multiprocessor of sm_90, divided by 32 lanes. */
const PART_REGISTERS = 512;
/** Threads of the copying warpgroup, which release registers; one of them issues the copies. */
const COPY_THREADS = 128;
/** Registers that each of these threads keeps: the least value of `setmaxnreg`. */
const COPY_REGISTERS = 24;

/**
 * Returns the registers of a multiplying thread after `setmaxnreg`, for which the copying warpgroup
 * releases its own. Returns 0 where all threads can have as many as are needed, and where several
 * blocks share a multiprocessor. The copying warp is the ninth beside eight that multiply: one of the
 * four parts of a multiprocessor then holds three warps, whose threads can have 168 registers each;
 * with two warps they could have 255.
 */
function raisedRegisters(
  { WARPS, RESIDENT }: RingConfig,
  { registers }: RingNeeds,
): number {
  const alike = PART_REGISTERS / Math.ceil((WARPS + 1) / 4);
  if (RESIDENT > 1 || registers <= Math.min(255, alike - alike % 8)) return 0;
  const threads = 32 * WARPS + COPY_THREADS;
  const start = 4 * 32 * PART_REGISTERS / threads;
  // `setmaxnreg` waits forever for more than the block has at launch.
  const left = (threads * (start - start % 8) - COPY_THREADS * COPY_REGISTERS) /
    (32 * WARPS);
  return Math.min(240, left - left % 8);
}

/**
 * Returns the macros of a config: its tunables except `RESIDENT`, the stages of its ring, and
 * `REGISTERS` where multiplying threads get more of them.
 */
export function ringDefines(
  sizes: Sizes,
  config: RingConfig,
  needs: RingNeeds,
): Values {
  const { RESIDENT: _, ...tile } = config;
  const raised = raisedRegisters(config, needs);
  return {
    ...tile,
    STAGES: stagesOf(sizes, config, needs),
    ...(raised > 0 ? { REGISTERS: raised } : {}),
  };
}

/**
 * Returns the launch of a config: a cluster for each tile, and a warp that copies in each block. Tiles
 * of the same rows of weights start together: those are read from memory once.
 */
export function ringShape(
  sizes: Sizes,
  config: RingConfig,
  needs: RingNeeds,
): LaunchShape {
  const { CLUSTER, WARPS } = config;
  const { tilesN, tilesM } = tilingOf(sizes, config);
  const copying = raisedRegisters(config, needs) > 0 ? COPY_THREADS : 32;
  return {
    grid: [CLUSTER, tilesM, tilesN],
    block: [32 * WARPS + copying, 1, 1],
    cluster: CLUSTER,
    sharedBytes: stagesOf(sizes, config, needs) * needs.step + needs.beside,
  };
}

/**
 * The rules that all such kernels obey.
 *
 * @param needsOf Returns what a config needs.
 * @param sizesOf Returns the sizes that a config divides, if they are not the point's.
 */
export function ringRules<P extends Sizes, C extends RingConfig>(
  needsOf: (point: P, config: C) => RingNeeds,
  sizesOf: (point: P, config: C) => Sizes = (point) => point,
) {
  return {
    warps(_, { BM, WARPS }) {
      if (32 * WARPS > MOST_THREADS - COPY_THREADS) {
        return `${WARPS} warps and those that copy exceed ${MOST_THREADS} threads`;
      }
      // Each group of warps has all rows of some columns.
      const group = Math.ceil(BM / WGMMA_ROWS) * WGMMA_ROWS / 16;
      return WARPS % group === 0
        ? undefined
        : `${WARPS} warps are no multiple of the ${group} that ${BM} rows take`;
    },
    stages(point, config) {
      const sizes = sizesOf(point, config);
      return tilingOf(sizes, config).steps === 1 ||
          stagesOf(sizes, config, needsOf(point, config)) > 1
        ? undefined
        : `one stage for several steps of BK=${config.BK}`;
    },
    slices: ({ k }, { CLUSTER, BK }) => emptyBlocks(k, CLUSTER, BK),
    cluster: (_, { CLUSTER }, { clusters }) =>
      CLUSTER <= 16 && clusters?.[CLUSTER - 1] !== 0
        ? undefined
        : `no cluster of ${CLUSTER} blocks fits on the device`,
    maps: (_, __, { tensorMaps }) =>
      tensorMaps ? undefined : "the device, or its driver, has no tensor maps",
    grid: fitsGrid((point: P, config: C) => {
      const { tilesN, tilesM } = tilingOf(sizesOf(point, config), config);
      return [tilesM, tilesN];
    }),
    registers(point, config, info) {
      const needs = needsOf(point, config);
      const { registers } = needs;
      const raised = raisedRegisters(config, needs);
      const threads = 32 * config.WARPS + 32;
      const fit = raised > 0
        ? registers <= raised
        : blocksPerUnit({ threads, registers }, info) >= config.RESIDENT;
      return fit
        ? undefined
        : `about ${registers} registers a thread: ${config.RESIDENT} blocks of ${threads} do not fit`;
    },
    shared: fitsMemory((point: P, config: C) => {
      const { step, beside } = needsOf(point, config);
      return beside + step;
    }),
  } satisfies Record<string, Rule<P, C>>;
}

/** Returns `m` rows in equal tiles of whole eights, of at most `most` rows each. */
export function evenRows(m: number, most: number): number {
  return Math.ceil(m / Math.ceil(m / most) / 8) * 8;
}

/**
 * Yields tiles with the most slices of K whose blocks are on the device at once.
 *
 * @param choices `heights`: values of BM; `rows`: values of BN; `steps`: values of BK, ascending;
 * `splitsTiles`: whether two warpgroups may share a tile of 64 rows of weights.
 */
export function* ringConfigs(
  { m, n, k }: Sizes,
  info: DeviceInfo,
  { heights = [64, 128], rows, steps, splitsTiles }: {
    readonly heights?: readonly number[];
    readonly rows: Iterable<number>;
    readonly steps: readonly [number, ...number[]];
    splitsTiles(BN: number): boolean;
  },
): Generator<RingConfig> {
  const tiled = { BM: heights, BN: [...new Set(rows)], RESIDENT: [1, 2, 3] };
  for (const { BM, BN, RESIDENT } of grid(tiled)) {
    const tiles = Math.ceil(n / BM) * Math.ceil(m / BN);
    const sizes = Array.from({ length: 16 }, (_, i) => i + 1).filter((size) =>
      size === 1 ||
      tiles <= RESIDENT * clustersAtOnce(info, size) &&
        !emptyBlocks(k, size, steps[0])
    );
    for (const CLUSTER of sizes.slice(-4)) {
      // Fewer blocks leave more shared memory to each.
      if ((RESIDENT - 1) * info.units >= tiles * CLUSTER) continue;
      for (const BK of steps) {
        if (emptyBlocks(k, CLUSTER, BK)) continue;
        const warps = BM === 64 && splitsTiles(BN) ? [4, 8] : [BM / 16];
        for (const WARPS of warps) {
          yield { BM, BN, BK, WARPS, CLUSTER, RESIDENT };
        }
      }
    }
  }
}

/** Waves of blocks, or blocks that share a multiprocessor, and slices of K. */
const FILLS = [[1, 1], [2, 1], [3, 1], [1, 2], [1, 3], [1, 4]] as const;

/**
 * Yields tiles with rows of activations as the rows of products: BM divides these, and BN the rows of
 * weights, so that the blocks are whole waves.
 *
 * @param whole BN is a multiple of it.
 */
export function* waveTiles(
  { m, n }: Sizes,
  info: DeviceInfo,
  whole = 8,
): Generator<Pick<RingConfig, "BM" | "BN" | "WARPS" | "CLUSTER" | "RESIDENT">> {
  for (const BM of [64, 128, 192, 256]) {
    const tilesM = Math.ceil(m / BM);
    // Copies are slow to fill rows with zeros that the activations lack.
    if (tilesM * BM - m > m / 8) continue;
    const seen = new Set<string>();
    for (const [waves, CLUSTER] of FILLS) {
      // With slices, tiles of 64 rows were the slowest.
      if (BM === WGMMA_ROWS && CLUSTER > 1) continue;
      const tilesN = Math.floor(waves * clustersAtOnce(info, CLUSTER) / tilesM);
      if (tilesN < 1) continue;
      const BN = Math.max(16, Math.ceil(n / tilesN / whole) * whole);
      if (BN > 256 || seen.has(`${BN} ${CLUSTER}`)) continue;
      seen.add(`${BN} ${CLUSTER}`);
      for (const RESIDENT of waves === 2 ? [2, 1] : [1]) {
        yield { BM, BN, WARPS: BM / 16, CLUSTER, RESIDENT };
      }
    }
  }
}

/** Bytes per µs that all blocks get from the second-level cache. */
const CACHE = 10.9e6;

/** The costs of a config. */
export interface RingCosts {
  /** µs in which memory delivers what is read. */
  readonly memory: number;
  /** Bytes that a block copies for each value of K. */
  readonly copied: number;
  /** Clocks of the products of a step, and of what a step waits for where one block has them all. */
  readonly products: number;
  readonly waits: number;
  /** Sums of a tile. */
  readonly sums: number;
}

/**
 * A rough time in µs: launch, copies at the rates of memory and of the second-level cache, products
 * and what each step waits for, and the way of sums to their block. The constants are fitted to
 * times of 800 configs of `scaled-matmul` on an H200.
 */
export function ringTime(
  sizes: Sizes,
  config: RingConfig,
  { units, memory, copied, products, waits, sums }: RingCosts & {
    readonly units: number;
  },
): number {
  const { CLUSTER, RESIDENT } = config;
  const { tilesN, tilesM, slice, steps } = tilingOf(sizes, config);
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(Math.min(blocks / units, RESIDENT));
  const waves = Math.ceil(blocks / units / RESIDENT);
  const copy = Math.max(memory, blocks * copied * slice / CACHE);
  const clocks = Math.max(products * beside, products + waits);
  const math = waves * steps * clocks / CLOCKS_PER_US;
  const meeting = CLUSTER > 1
    ? 0.19 + 0.03 * CLUSTER + beside * sums * BYTES.f32 / 17.6e3
    : 0;
  // Copies and products hide one another in part.
  const loop = (copy ** 1.54 + math ** 1.54) ** (1 / 1.54);
  return 4.7 + loop + clocks / CLOCKS_PER_US + waves * meeting;
}

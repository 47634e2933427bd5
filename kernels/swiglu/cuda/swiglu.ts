/**
 * One launch for {@linkcode swiglu}: products of warpgroups with both weights, by tensor maps.
 *
 * @module
 */

import { type DeviceInfo, tensorMapOn } from "../../../bench/device/device.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { blocksPerUnit } from "../../../bench/model/occupancy.ts";
import { launched } from "../../common/launch.ts";
import {
  allHaveSome,
  fitsGrid,
  fitsMemory,
  noWgmma,
} from "../../common/rules.ts";
import { clustersAtOnce } from "../../matmul/cuda/cluster/configs.ts";
import { swiglu, type SwigluPoint } from "../op.ts";

/** The tunables of `swiglu.cu`. */
export type FusedConfig = Values & {
  /** Rows of either weight of a tile. */
  readonly BM: number;
  /** Rows of X of a tile. */
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

/** K of a box: 128 bytes. */
const BOX = 64;
/** Clocks of a µs, with which products are compared with copies. */
const CLOCKS = 1755;
/** K steps under way at most: more bytes than a multiprocessor has under way at any rate. */
const MOST_STAGES = 12;
/** Shared memory of a multiprocessor of sm_90, of which the system takes a KiB for each block. */
const SHARED_BYTES = 228 * 1024;

/** The division of the work by a config. */
function cutOf(
  { m, n, k }: SwigluPoint,
  { BM, BN, BK, CLUSTER }: FusedConfig,
) {
  const steps = Math.ceil(k / CLUSTER / BK);
  return {
    tilesN: Math.ceil(n / BM),
    tilesM: Math.ceil(m / BN),
    /** K steps of a block, and their K. */
    steps,
    slice: steps * BK,
  };
}

/** Bytes of shared memory for the sums that a cluster sends. */
function mailBytes({ BM, BN, CLUSTER }: FusedConfig): number {
  // A share is whole units of two gates and two ups.
  return CLUSTER > 1
    ? CLUSTER * Math.ceil(BM * BN / 2 / CLUSTER) * 4 * BYTES.f32 + 16
    : 0;
}

/** Bytes of a K step with its two barriers. */
function stageBytes({ BM, BN, BK }: FusedConfig): number {
  return (2 * BM + BN) * BK * BYTES.bf16 + 16;
}

/** K steps of the ring: all, or as many as have room. */
function stagesOf(point: SwigluPoint, config: FusedConfig): number {
  const own = Math.floor(SHARED_BYTES / config.RESIDENT) - 1024;
  const room = (own - mailBytes(config)) / stageBytes(config);
  const { steps } = cutOf(point, config);
  return Math.max(1, Math.min(Math.floor(room), steps, MOST_STAGES));
}

/** About the registers of a thread: its gates and ups, and what nvcc 13.0 takes beside them. */
function registersOf({ BM, BN, WARPS }: FusedConfig): number {
  return BM * BN / 16 / WARPS + 26;
}

/** Whether each block of a cluster of `size` has some of K. */
function someEach(k: number, size: number, BK: number): string | undefined {
  return allHaveSome(k, {
    slices: size,
    slice: Math.ceil(k / size / BK) * BK,
  });
}

const rules = {
  tile: (_, { BM, BN, BK, WARPS }) =>
    BM % 64 === 0 && BM <= 256 && BK % BOX === 0 && WARPS % 4 === 0 &&
      WARPS * 16 >= BM && BN <= 128 && BM * BN / 16 / WARPS % 8 === 0
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`,
  stages: (point, config) =>
    cutOf(point, config).steps === 1 || stagesOf(point, config) > 1
      ? undefined
      : `one stage for ${cutOf(point, config).steps} steps of BK=${config.BK}`,
  slices: ({ k }, { CLUSTER, BK }) => someEach(k, CLUSTER, BK),
  shared: fitsMemory((_, config: FusedConfig) =>
    mailBytes(config) + stageBytes(config)
  ),
  registers(_, config, info) {
    const { WARPS, RESIDENT } = config;
    const registers = registersOf(config);
    const threads = 32 * WARPS + 32;
    return blocksPerUnit({ threads, registers }, info) >= RESIDENT
      ? undefined
      : `about ${registers} registers a thread: ${RESIDENT} blocks of ${threads} do not fit`;
  },
  cluster: (_, { CLUSTER }, { clusters }) =>
    CLUSTER <= 16 && clusters?.[CLUSTER - 1] !== 0
      ? undefined
      : `no cluster of ${CLUSTER} blocks fits on the device`,
  maps: (_, __, { tensorMaps }) =>
    tensorMaps ? undefined : "the device, or its driver, has no tensor maps",
  grid: fitsGrid((point: SwigluPoint, config: FusedConfig) => {
    const { tilesN, tilesM } = cutOf(point, config);
    return [tilesN, tilesM];
  }),
} satisfies Record<string, Rule<SwigluPoint, FusedConfig>>;

/** Tiles of 64 and 128 rows, with the most slices of K whose blocks are on the device at once. */
function* configs(
  point: SwigluPoint,
  info: DeviceInfo,
): Generator<FusedConfig> {
  const { m, n, k } = point;
  const tokens = new Set(
    [64, 128].map((most) => Math.ceil(m / Math.ceil(m / most) / 8) * 8),
  );
  for (
    const { BM, BN, RESIDENT } of grid({
      ...{ BM: [64, 128], BN: [...tokens], RESIDENT: [1, 2, 3] },
    })
  ) {
    const tiles = Math.ceil(n / BM) * Math.ceil(m / BN);
    const sizes = Array.from({ length: 16 }, (_, i) => i + 1).filter((size) =>
      size === 1 ||
      tiles <= RESIDENT * clustersAtOnce(info, size) && !someEach(k, size, BOX)
    );
    for (const CLUSTER of sizes.slice(-4)) {
      // Fewer blocks leave more shared memory to each.
      if ((RESIDENT - 1) * info.units >= tiles * CLUSTER) continue;
      for (const BK of [BOX, 2 * BOX]) {
        if (someEach(k, CLUSTER, BK)) continue;
        for (
          const WARPS of BM === 64 && BN % 16 === 0 && BN >= 64
            ? [4, 8]
            : [BM / 16]
        ) {
          yield { BM, BN, BK, WARPS, CLUSTER, RESIDENT };
        }
      }
    }
  }
}

/**
 * A rough time in µs: launch, copies at the rates of memory and of the second-level cache, products
 * and what each step waits for, and the way of sums to their block. Its form and its constants are
 * those of the model of `scaled-matmul`'s `wgmma`, which were fitted to times of 800 configs on an
 * H200; products of 16 bits take twice as long. Nothing here was fitted to times of this kernel.
 */
function predict(
  point: SwigluPoint,
  config: FusedConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k } = point;
  const { BM, BN, BK, CLUSTER, RESIDENT } = config;
  const { tilesN, tilesM, slice, steps } = cutOf(point, config);
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(Math.min(blocks / units, RESIDENT));
  const waves = Math.ceil(blocks / units / RESIDENT);
  // Bytes per µs.
  const copy = Math.max(
    (m + 2 * n) * k * BYTES.bf16 / MEMORY,
    blocks * (2 * BM + Math.min(m, BN)) * slice * BYTES.bf16 / 10.9e6,
  );
  // A product of 64 x BN x 16 takes as long as its rows from shared memory at least.
  const products = BM / 64 * 2 * BK / 16 * Math.max(BN / 2, 16);
  const clocks = Math.max(products * beside, products + 250);
  const math = waves * steps * clocks / CLOCKS;
  const sums = CLUSTER > 1
    ? 0.19 + 0.03 * CLUSTER + beside * 2 * BM * BN * BYTES.f32 / 17.6e3
    : 0;
  // Copies and products hide one another in part.
  const loop = (copy ** 1.54 + math ** 1.54) ** (1 / 1.54);
  return 4.7 + loop + clocks / CLOCKS + waves * sums;
}

/** Bytes per µs of an H200's memory that long copies reach. */
const MEMORY = 4.2e6;

/** Both products and what joins them. */
export const fused: Kernel<SwigluPoint> = launched<SwigluPoint, FusedConfig>(
  swiglu,
  {
    name: "fused",
    backend: "cuda",
    idea:
      "wgmma of both weights in one block, by tensor maps, K over a cluster",
    unsupported: ({ k }, info) =>
      noWgmma(info) ??
        (k % 8 === 0
          ? undefined
          : `K=${k}: tensor maps take rows of whole 16-byte chunks`),
    configs,
    rules,
    predict,
    build(point, config) {
      const { RESIDENT: _, ...tile } = config;
      return {
        source: new URL("./swiglu.cu", import.meta.url),
        defines: { TYPE: point.type, ...tile, STAGES: stagesOf(point, config) },
      };
    },
    launch({ point, config, operands, device }) {
      const { m, n, k, type } = point;
      const { BM, BN, CLUSTER, WARPS } = config;
      const { tilesN, tilesM, slice } = cutOf(point, config);
      const { X, W1, W2, C } = operands;
      const box = { type, columns: k, ld: k, boxColumns: BOX };
      const weights = { ...box, rows: n, boxRows: BM };
      return {
        args: [
          tensorMapOn(device, W1!, weights),
          tensorMapOn(device, W2!, weights),
          tensorMapOn(device, X!, { ...box, rows: m, boxRows: BN }),
          ...[C, m, n, k, slice],
        ],
        shape: {
          grid: [CLUSTER, tilesN, tilesM],
          block: [32 * WARPS + 32, 1, 1],
          cluster: CLUSTER,
          sharedBytes: stagesOf(point, config) * stageBytes(config) +
            mailBytes(config),
        },
      };
    },
  },
);

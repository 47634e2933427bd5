/**
 * Products of warpgroups for {@linkcode scaledMatmul}: FP8 operands by tensor maps.
 *
 * @module
 */

import { type DeviceInfo, tensorMapOn } from "../../../bench/device/device.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { launched } from "../../common/launch.ts";
import {
  allHaveSome,
  fitsGrid,
  fitsMemory,
  noWgmma,
} from "../../common/rules.ts";
import { clustersAtOnce } from "../../matmul/cuda/cluster/configs.ts";
import { scaledMatmul } from "../op.ts";
import { BLOCK, type ScaledPoint } from "../point.ts";

/** The tunables of `wgmma.cu`. */
export type WgmmaConfig = Values & {
  /** Rows of B of a tile. */
  readonly BM: number;
  /** Rows of A of a tile. */
  readonly BN: number;
  /** K of a copy. */
  readonly BK: number;
  /** Warps that multiply. */
  readonly WARPS: number;
  /** Blocks that share K. */
  readonly CLUSTER: number;
  /** Blocks of a multiprocessor, for which shared memory is left. */
  readonly RESIDENT: number;
};

/** Clocks of a µs, with which products are compared with copies. */
const CLOCKS = 1755;
/** K steps under way at most: more bytes than a multiprocessor has under way at any rate. */
const MOST_STAGES = 12;

/** Shared memory of a multiprocessor of sm_90, of which the system takes a KiB for each block. */
const SHARED_BYTES = 228 * 1024;

/** The division of the work by a config. */
function cutOf(
  { m, n, k }: ScaledPoint,
  { BM, BN, BK, CLUSTER }: WgmmaConfig,
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

/** Bytes of shared memory for scales, and for the sums that a cluster sends. */
function besideRing(point: ScaledPoint, config: WgmmaConfig): number {
  const { BM, BN, CLUSTER } = config;
  const { slice } = cutOf(point, config);
  const scales = point.scale === "block128" ? slice / BLOCK * BN : BM + BN;
  // A share is whole units of four sums.
  const sums = CLUSTER > 1
    ? CLUSTER * Math.ceil(BM * BN / 4 / CLUSTER) * 16 + 16
    : 0;
  return scales * BYTES.f32 + sums;
}

/** Bytes of a K step with its two barriers. */
function stageBytes({ BM, BN, BK }: WgmmaConfig): number {
  return (BM + BN) * BK + 16;
}

/** K steps of the ring: all, or as many as have room. */
function stagesOf(point: ScaledPoint, config: WgmmaConfig): number {
  const own = Math.floor(SHARED_BYTES / config.RESIDENT) - 1024;
  const room = (own - besideRing(point, config)) / stageBytes(config);
  const { steps } = cutOf(point, config);
  return Math.max(1, Math.min(Math.floor(room), steps, MOST_STAGES));
}

const rules = {
  tile(_, { BM, BN, BK, WARPS }) {
    const columns = BM * BN / 16 / WARPS;
    return BLOCK % BM === 0 && BM % 64 === 0 && BK % BLOCK === 0 &&
        WARPS % 4 === 0 && WARPS * 16 >= BM && BN <= 256 &&
        BN % 8 === 0 && columns % 8 === 0
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`;
  },
  // ptxas 13.0 lets products wait for one another where a step has two turns.
  turns: ({ scale }, { BK }) =>
    scale !== "block128" || BK === BLOCK
      ? undefined
      : `BK=${BK}: a step has one scale of blocks of ${BLOCK}`,
  stages(point, config) {
    const { steps } = cutOf(point, config);
    return steps === 1 || stagesOf(point, config) > 1
      ? undefined
      : `one stage for ${steps} steps of BK=${config.BK}`;
  },
  slices(point, config) {
    const { slice } = cutOf(point, config);
    return allHaveSome(point.k, { slices: config.CLUSTER, slice });
  },
  shared: fitsMemory((point: ScaledPoint, config: WgmmaConfig) =>
    besideRing(point, config) + stageBytes(config)
  ),
  cluster: (_, { CLUSTER }, { clusters }) =>
    CLUSTER <= 16 && clusters?.[CLUSTER - 1] !== 0
      ? undefined
      : `no cluster of ${CLUSTER} blocks fits on the device`,
  maps: (_, __, { tensorMaps }) =>
    tensorMaps ? undefined : "the device, or its driver, has no tensor maps",
  grid: fitsGrid((point: ScaledPoint, config: WgmmaConfig) => {
    const { tilesN, tilesM } = cutOf(point, config);
    return [tilesN, tilesM];
  }),
} satisfies Record<string, Rule<ScaledPoint, WgmmaConfig>>;

/** Tiles of 64 and 128 rows, with the most slices of K whose blocks are on the device at once. */
function* configs(
  point: ScaledPoint,
  info: DeviceInfo,
): Generator<WgmmaConfig> {
  const { m, n, k, scale } = point;
  const tokens = new Set(
    // Narrow tiles of few rows of B fill more of the device.
    [...(n > 1024 ? [] : [32]), 64, 128].map((most) =>
      Math.ceil(m / Math.ceil(m / most) / 8) * 8
    ),
  );
  for (
    const { BM, BN, RESIDENT } of grid({
      ...{ BM: [64, 128], BN: [...tokens], RESIDENT: [1, 2, 3] },
    })
  ) {
    const tiles = Math.ceil(n / BM) * Math.ceil(m / BN);
    const someIn = (size: number, BK: number) =>
      !allHaveSome(k, {
        ...{ slices: size, slice: Math.ceil(k / size / BK) * BK },
      });
    const sizes = Array.from({ length: 16 }, (_, i) => i + 1).filter((size) =>
      size === 1 ||
      tiles <= RESIDENT * clustersAtOnce(info, size) && someIn(size, BLOCK)
    );
    for (const CLUSTER of sizes.slice(-4)) {
      // Fewer blocks leave more shared memory to each.
      if ((RESIDENT - 1) * info.units >= tiles * CLUSTER) continue;
      for (const BK of scale === "block128" ? [BLOCK] : [BLOCK, 2 * BLOCK]) {
        if (!someIn(CLUSTER, BK)) continue;
        for (const WARPS of BM === 64 && BN >= 64 ? [4, 8] : [BM / 16]) {
          yield { BM, BN, BK, WARPS, CLUSTER, RESIDENT };
        }
      }
    }
  }
}

/**
 * A rough time in µs: launch, copies at the rates of memory and of the second-level cache, products
 * and what each step waits for, and the way of sums to their block. The constants are fitted to
 * times of 800 configs on an H200.
 */
function predict(
  point: ScaledPoint,
  config: WgmmaConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k, scale } = point;
  const { BM, BN, BK, CLUSTER, RESIDENT } = config;
  const { tilesN, tilesM, slice, steps } = cutOf(point, config);
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(Math.min(blocks / units, RESIDENT));
  const waves = Math.ceil(blocks / units / RESIDENT);
  // Bytes per µs.
  const copy = Math.max(
    (m + n) * k / 3.1e6,
    blocks * (BM + Math.min(m, BN)) * slice / 10.9e6,
  );
  const products = BM / 64 * 2 * BN * BK / BLOCK;
  const alone = products + 250 + (scale === "block128" ? 3 * BN : 0);
  const clocks = Math.max(products * beside, alone);
  const math = waves * steps * clocks / CLOCKS;
  const sums = CLUSTER > 1
    ? 0.19 + 0.03 * CLUSTER + beside * BM * BN * BYTES.f32 / 17.6e3
    : 0;
  // Copies and products hide one another in part.
  const loop = (copy ** 1.54 + math ** 1.54) ** (1 / 1.54);
  return 4.7 + loop + clocks / CLOCKS + waves * sums;
}

/** FP8 products of warpgroups. */
export const wgmma: Kernel<ScaledPoint> = launched<ScaledPoint, WgmmaConfig>(
  scaledMatmul,
  {
    name: "wgmma",
    backend: "cuda",
    idea: "FP8 wgmma by tensor maps, fp32 sums of 128 of K, K over a cluster",
    unsupported: ({ k }, info) =>
      noWgmma(info) ??
        (k % 16 === 0
          ? undefined
          : `K=${k}: tensor maps take rows of whole 16-byte chunks`),
    configs,
    rules,
    predict,
    build(point, config) {
      const { RESIDENT: _, ...tile } = config;
      const STAGES = stagesOf(point, config);
      return {
        source: new URL("./wgmma.cu", import.meta.url),
        defines: { SCALE: point.scale, ...tile, STAGES },
      };
    },
    launch({ point, config, operands, device }) {
      const { m, n, k } = point;
      const { BM, BN, CLUSTER, WARPS } = config;
      const { tilesN, tilesM, slice } = cutOf(point, config);
      const stages = stagesOf(point, config);
      const { A, B, scaleA, scaleB, C } = operands;
      const box = {
        type: "e4m3",
        columns: k,
        ld: k,
        boxColumns: BLOCK,
      } as const;
      return {
        entry: "scaled_wgmma",
        args: [
          tensorMapOn(device, B!, {
            ...{ ...box, rows: n, boxRows: Math.min(BM, Math.ceil(n / 8) * 8) },
          }),
          tensorMapOn(device, A!, { ...box, rows: m, boxRows: BN }),
          ...[scaleA, scaleB, C, m, n, k, slice],
        ],
        shape: {
          grid: [CLUSTER, tilesN, tilesM],
          block: [32 * WARPS + 32, 1, 1],
          cluster: CLUSTER,
          sharedBytes: stages * stageBytes(config) + besideRing(point, config),
        },
      };
    },
  },
);

/**
 * The tensor-core kernels of {@linkcode qmm}: weights stay packed until they are in
 * registers.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { EARLY } from "../../../bench/device/queue.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { demandAligned, launched } from "../../common/launch.ts";
import { noClusters } from "../../common/rules.ts";
import { CLOCKS_PER_US } from "../../common/sm90.ts";
import { qmm } from "../op.ts";
import { blockOf, type QmmPoint, weightMemory } from "../point.ts";
import {
  columnsOf,
  rowsOf,
  sharedBytes,
  sliceOf,
  stepsOf,
  threadsOf,
  type TileConfig,
  tileRules,
  tilesOf,
} from "./tiles.ts";

// RT, WN, WK, and the BM that they suit. 10 groups of warps have the 20 steps of K=2560 in two
// rounds, or, of 256, in one; 16 have those of 4096 in one.
const CUTS = [
  [2, 1, 8, [1, 8, 16]],
  [2, 1, 10, [1, 8, 16]],
  [2, 1, 16, [1, 8]],
  [4, 1, 4, [1, 8, 16, 24, 32]],
  [4, 1, 8, [1, 8, 16, 24, 32]],
  [2, 2, 4, [8, 16, 32]],
  [2, 2, 8, [1, 8]],
  [4, 2, 4, [8, 16, 24, 32]],
  [2, 2, 2, [1, 8, 16, 32, 64]],
  [2, 4, 2, [24, 32, 64]],
  [1, 4, 2, [64]],
] as const;
// KS, STAGES.
const RINGS = [
  [128, 1],
  [128, 2],
  [128, 3],
  [128, 4],
  [256, 1],
  [256, 2],
] as const;

/** Every config whose slices of K are as `clusters` has them. */
export function* tileConfigs(
  clusters: readonly number[],
): Generator<TileConfig> {
  for (const [RT, WN, WK, tokens] of CUTS) {
    for (const BM of tokens) {
      for (const [KS, STAGES] of RINGS) {
        for (const CLUSTER of clusters) {
          yield { BM, RT, WN, WK, KS, STAGES, CLUSTER };
        }
      }
    }
  }
}

/** Blocks of a multiprocessor: registers and shared memory for them. */
function residentOf(
  point: QmmPoint,
  config: TileConfig,
  room: number,
): number {
  const few = config.RT * columnsOf(config) <= 2 && 32 % point.bits === 0;
  const threads = few ? 512 : 256;
  return Math.max(
    1,
    Math.min(
      Math.floor(threads / threadsOf(config)),
      Math.floor((room + 1024) / (sharedBytes(point, config) + 1024)),
    ),
  );
}

/**
 * A rough time in µs, of use to order configs: what passes from the cache to the
 * multiprocessors, what their warps do with it, of which about half is hidden, and the steps
 * that wait for copies. The constants are of an H200: kernels without copies, without
 * products and without scales were timed apart.
 */
export function predictTile(
  point: QmmPoint,
  config: TileConfig,
  { units, sharedBytes: room }: Pick<DeviceInfo, "units" | "sharedBytes">,
): number {
  const { bits, group, mode } = point;
  const { RT, BM, STAGES, WK, CLUSTER } = config;
  const [x, y] = tilesOf(point, config);
  const bn = rowsOf(config);
  const blocks = x * y * CLUSTER;
  const resident = residentOf(point, config, room);
  const waves = Math.ceil(blocks / (units * resident));
  const beside = Math.min(resident, Math.ceil(blocks / units));
  const slice = sliceOf(point, config);
  const weights = bits / 8 + (mode === "affine" ? 4 : 1) / group;
  const block = slice * (bn * weights + 2 * Math.min(point.m, BM));
  // Bytes per µs: through the cache, and into one multiprocessor.
  const copy = Math.max(blocks * block / 3.6e6, waves * beside * block / 45e3);
  // Cycles of a warp for a group of 64, four warps at a time: instructions of the compiled step,
  // of which three in four cycles are issued.
  const tokens = columnsOf(config);
  const work = 30 + RT * (65 + 25 * tokens) + 25 * tokens;
  const math = (bn / 16 / RT) * (slice / 64) * work / (4 * CLOCKS_PER_US);
  const steps = stepsOf(point, config);
  const late = (Math.ceil(steps / STAGES) - 1) * 0.8 + math / WK;
  // Clusters of more than two find no room where the machine is nearly full.
  const crowded = CLUSTER > 2 && blocks > 0.92 * units * beside ? 1.5 : 1;
  return 4.2 +
    crowded * (Math.max(copy, late) + 0.5 * waves * beside * math) +
    (CLUSTER > 1 ? 0.4 : 0) + (STAGES > 1 ? 0 : 0.5) +
    WK * BM * bn * 4 / 110e3 + 0.5 * (waves - 1);
}

interface Variant {
  readonly name: string;
  readonly idea: string;
  /** Slices of K. */
  readonly clusters: readonly number[];
}

/** The macros of the format of the weights, for every kernel that decodes them. */
export function formatMacros(point: QmmPoint): Values {
  const { type, mode, bits } = point;
  return {
    TYPE: type,
    MODE: mode.toUpperCase(),
    BITS: bits,
    ...blockOf(point),
  };
}

function define({ clusters, ...named }: Variant): Kernel<QmmPoint> {
  return launched<QmmPoint, TileConfig>(qmm, {
    ...named,
    backend: "cuda",
    unsupported: ({ transposed }, info) =>
      noClusters(info) ??
        (transposed
          ? undefined
          : "groups of weights run along N: no scale is common to a sum over K"),
    configs: () => tileConfigs(clusters),
    rules: tileRules,
    predict: predictTile,
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./qmm.cu", import.meta.url),
      defines: { ...formatMacros(point), ...config },
    }),
    launch({ point, config, operands }) {
      const { m, n, k, bits } = point;
      const { x, w, y } = operands;
      demandAligned(x!, "x", "its copies");
      const wide = k * bits / 8 % 16 === 0 && w!.address % 16n === 0n;
      return {
        args: [
          ...[x, ...weightMemory(operands), y],
          ...[m, n, k, sliceOf(point, config), wide, EARLY],
        ],
        shape: {
          grid: [config.CLUSTER, ...tilesOf(point, config)],
          block: [threadsOf(config), 1, 1],
          cluster: config.CLUSTER,
          sharedBytes: sharedBytes(point, config),
        },
      };
    },
  });
}

/** All of K in a block, shared by its warps. */
export const qmmTile: Kernel<QmmPoint> = define({
  name: "qmm",
  idea: "tensor cores, weights decoded in registers, K over a block's warps",
  clusters: [1],
});

/** Slices of K meet in distributed shared memory. */
export const qmmSplitK: Kernel<QmmPoint> = define({
  name: "qmm-splitk",
  idea: "qmm with K over a cluster's blocks too, the last slice of any length",
  clusters: [2, 3, 4, 5, 8],
});

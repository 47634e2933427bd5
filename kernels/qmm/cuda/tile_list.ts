/**
 * Which cuts the tensor-core kernels try, and in what order.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import {
  columnsOf,
  rowsOf,
  sharedBytes,
  sliceOf,
  stepsOf,
  threadsOf,
  type TileConfig,
  tilesOf,
} from "./tiles.ts";
import type { QmmPoint } from "../point.ts";

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
  const math = (bn / 16 / RT) * (slice / 64) * work / (4 * 1755);
  const steps = stepsOf(point, config);
  const late = (Math.ceil(steps / STAGES) - 1) * 0.8 + math / WK;
  // Clusters of more than two find no room where the machine is nearly full.
  const crowded = CLUSTER > 2 && blocks > 0.92 * units * beside ? 1.5 : 1;
  return 4.2 +
    crowded * (Math.max(copy, late) + 0.5 * waves * beside * math) +
    (CLUSTER > 1 ? 0.4 : 0) + (STAGES > 1 ? 0 : 0.5) +
    WK * BM * bn * 4 / 110e3 + 0.5 * (waves - 1);
}

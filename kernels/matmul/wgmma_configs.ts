/**
 * Which configs of the one-launch kernel of warpgroups are tried.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device.ts";
import { BYTES } from "../../bench/dtype.ts";
import {
  type ClusterConfig,
  clustersAtOnce,
  MOST_STAGES,
  tilesOf,
} from "./cluster_configs.ts";
import type { MatmulPoint } from "./op.ts";

/** Columns of a tile: what divides the widths of layers into about as many as there are units. */
const COLUMNS = [16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256];
const CLUSTERS = [1, 2, 3, 4, 5, 6, 7, 8, 16];
const STEPS = [64, 128, 256];

/**
 * Tiles of 64 and 128 rows, with the most slices whose blocks are all on the device at once, and
 * all steps in flight, or all that there is room for.
 */
export function* wgmmaConfigs(
  { m, n, k, type }: Pick<MatmulPoint, "m" | "n" | "k" | "type">,
  { units, sharedBytes }: Pick<DeviceInfo, "units" | "sharedBytes">,
): Iterable<ClusterConfig> {
  for (const BM of m > 64 ? [64, 128] : [64]) {
    for (const BN of COLUMNS.filter((BN) => BN < 2 * n)) {
      const [x, y] = tilesOf({ m, n }, { BM, BN });
      const CLUSTER = CLUSTERS.findLast((size) =>
        size === 1 || x * y <= clustersAtOnce(units, size)
      )!;
      for (const BK of STEPS) {
        const steps = Math.ceil(k / CLUSTER / BK);
        const sums = CLUSTER > 1 ? BM * BN * BYTES.f32 + 8192 : 0;
        const room = Math.floor(
          (sharedBytes - sums) / ((BM + BN) * BK * BYTES[type]),
        );
        const STAGES = Math.min(steps, room, MOST_STAGES);
        if (STAGES < Math.min(2, steps)) continue;
        for (const WARPS of warps(BM, BN)) {
          const tile = { LOAD: "wgmma", BM, BN, CLUSTER, PARTS: 1 } as const;
          yield { ...tile, BK, WARPS, KWARPS: 1, STAGES };
        }
      }
    }
  }
}

/** One warpgroup for 64 rows, or two, each with half of the columns. */
function warps(BM: number, BN: number): readonly number[] {
  return BM === 64 && BN >= 64 ? [4, 8] : [BM / 16];
}

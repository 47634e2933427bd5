/**
 * The rules of the one-launch kernels: a config that breaks one cannot run, or wastes work.
 *
 * @module
 */

import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Rule } from "../../../../bench/model/kernel.ts";
import {
  allHaveSome,
  covering,
  fitsGrid,
  fitsMemory,
  padding,
} from "../../../common/rules.ts";
import {
  type ClusterConfig,
  cutOf,
  isWarpgroups,
  meetingBytes,
  ringBytes,
  sharedBytes,
  sliceOf,
  slicesOf,
  threadsOf,
  tilesAtOnce,
  tilesOf,
} from "./configs.ts";
import type { MatmulPoint } from "../../point.ts";

/**
 * About how many registers a lane needs: of operands that never touch shared memory those of the
 * K steps of 32 under way, else those of what is multiplied next, and its sums. With 96 sums in
 * fp32 nvcc keeps parameters of a call on the stack.
 */
export function registersOf(
  point: Pick<MatmulPoint, "n" | "type">,
  config: ClusterConfig,
): number {
  const { LOAD, BM, BN, STAGES } = config;
  if (LOAD === "direct") return STAGES * (BM + BN) / 2 + BM * BN / 32 + 40;
  const { m, n } = cutOf(point, config);
  return m * n / 32 + (point.type === "f32" ? 160 : 70);
}

/** The rules of a config, by name. */
export const rules: Readonly<
  Record<string, Rule<MatmulPoint, ClusterConfig>>
> = {
  tile({ m, n }, { LOAD, BM, BN }) {
    // A warpgroup has 64 rows, and those that do not exist are not read.
    return padding("BM", BM, covering(m, isWarpgroups({ LOAD }) ? 64 : 16)) ??
      padding("BN", BN, 2 * Math.max(n, 16) - 1);
  },
  types({ type }, { LOAD }) {
    return LOAD === "direct" && type === "f32"
      ? "only fragments of 16-bit operands are loaded directly"
      : undefined;
  },
  maps(_, { LOAD, BM, BN }, { tensorMaps }) {
    if (LOAD !== "tensor") return undefined;
    if (!tensorMaps) return "the device, or its driver, has no tensor maps";
    return Math.max(BM, BN) <= 256
      ? undefined
      : `boxes of ${Math.max(BM, BN)} rows, 256 are the most`;
  },
  columns({ layout, type }, { LOAD, BN }) {
    const power = (BN & BN - 1) === 0 && BN >= 16;
    return isWarpgroups({ LOAD }) || power ||
        (LOAD !== "direct" && layout === "nt" && type !== "f32" && BN % 8 === 0)
      ? undefined
      : `BN=${BN} is no power of two from 16 on, as B by rows, fp32 and direct loads need it`;
  },
  warpgroups(_, { LOAD, BM, BN, BK, WARPS }) {
    if (!isWarpgroups({ LOAD })) return undefined;
    const threads = threadsOf({ LOAD, WARPS });
    if (threads > 1024) return `${threads} threads, 1024 are the most`;
    const columns = BM * BN / 16 / WARPS;
    return BM % 64 === 0 && WARPS % 4 === 0 && BK % 64 === 0 &&
        columns % 8 === 0 && columns <= 256 && BM <= 16 * WARPS
      ? undefined
      : `${WARPS} warps are no warpgroups with products of 64 rows, 8 to 256 columns and 64 of K`;
  },
  registers(point, config) {
    if (isWarpgroups(config)) return undefined;
    const needed = registersOf(point, config);
    const most = Math.min(255, 65536 / 32 / config.WARPS);
    return needed <= most
      ? undefined
      : `about ${needed} registers of a lane, ${config.WARPS} warps leave ${most}`;
  },
  warps(point, config) {
    const { LOAD, WARPS, KWARPS, BK } = config;
    if (LOAD !== "ring" && LOAD !== "warps") return undefined;
    if (WARPS % KWARPS !== 0) {
      return `KWARPS=${KWARPS} does not divide WARPS=${WARPS}`;
    }
    const step = point.type === "f32" ? 4 : 16;
    const shared = cutOf(point, config).k;
    if (LOAD === "warps" && shared !== WARPS) {
      return `KWARPS=${KWARPS} leaves warps the same part of K: they have no rings of their own`;
    }
    // A warp copies runs of half a line at least.
    const least = LOAD === "warps" ? 64 / BYTES[point.type] : step;
    return BK % (least * shared) === 0
      ? undefined
      : `BK=${BK} has no steps of ${least} for each of ${shared} warps`;
  },
  slices(point, config) {
    const slice = sliceOf(point, config);
    return allHaveSome(point.k, { slices: slicesOf(config), slice });
  },
  stages(point, config) {
    const { LOAD, STAGES, BK, WARPS } = config;
    const all = sliceOf(point, config) / BK;
    const steps = Math.ceil(LOAD === "direct" ? all / WARPS : all);
    if (LOAD !== "direct" && BK > 128 && 2 * all <= 1) {
      return `more than half of BK=${BK} would be padding`;
    }
    // By tensor maps a stage is free once the next step has come: one would never be.
    if (LOAD !== "direct" && STAGES === 1 && steps > 1) {
      return `one stage for ${steps} steps of BK=${BK}`;
    }
    return STAGES <= Math.max(2, steps)
      ? undefined
      : `${STAGES} stages for ${steps} steps of BK=${BK}`;
  },
  meeting(point, config) {
    return config.LOAD === "direct" ||
        meetingBytes(point, config) <= ringBytes(point, config)
      ? undefined
      : `the sums of ${cutOf(point, config).k} warps do not fit in the ring`;
  },
  shared: fitsMemory(sharedBytes),
  cluster(point, config) {
    const { LOAD, CLUSTER, PARTS, TILES_M = 1, TILES_N = 1 } = config;
    const [x, y] = tilesOf(point, config);
    if (TILES_N > x || TILES_M > y) {
      return `a cluster of ${TILES_N} x ${TILES_M} tiles, there are ${x} x ${y}`;
    }
    if (tilesAtOnce(config) > 1 && PARTS > 1) {
      return "clusters that share a tile have no other";
    }
    // Only tensor maps have zeros for a tile that does not exist.
    if (LOAD !== "tensor" && (x % TILES_N !== 0 || y % TILES_M !== 0)) {
      return `${x} x ${y} tiles are not whole clusters of ${TILES_N} x ${TILES_M}`;
    }
    const blocks = CLUSTER * tilesAtOnce(config);
    return blocks <= 16
      ? undefined
      : `a cluster of ${blocks} blocks, 16 are the most`;
  },
  grid: fitsGrid(tilesOf),
};

/**
 * The rules of the one-launch kernels (a config that breaks one cannot run, or wastes work), and
 * models: the blocks that a device holds, and the time of a config.
 *
 * @module
 */

import type { DeviceInfo } from "../../../../bench/device/device.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Rule } from "../../../../bench/model/kernel.ts";
import { blocksPerUnit } from "../../../../bench/model/occupancy.ts";
import {
  emptySlices,
  fitsGrid,
  fitsMemory,
  nextPowerOfTwo,
  padding,
} from "../../../common/rules.ts";
import { CLOCKS_PER_US, clustersAtOnce } from "../../../common/sm90.ts";
import type { MatmulPoint } from "../../point.ts";
import {
  boxRowsOf,
  type ClusterConfig,
  columnsOf,
  lanesOf,
  ringBytes,
  sharedBytes,
  sliceOf,
  slicesOf,
  threadsOf,
  tilesAtOnce,
  tilesOf,
  warpReduceBytes,
  warpTilingOf,
} from "./configs.ts";

/**
 * About how many registers a lane needs: those of what is multiplied next, and its sums. With 96
 * sums in fp32 nvcc keeps parameters of a call on the stack.
 */
function registersOf(
  point: Pick<MatmulPoint, "n" | "type">,
  config: ClusterConfig,
): number {
  const { m, n } = warpTilingOf(point, config);
  return m * n / 32 + (point.type === "f32" ? 160 : 70);
}

/** The rules of a config, by name. */
export const rules: Readonly<
  Record<string, Rule<MatmulPoint, ClusterConfig>>
> = {
  tile({ m, n, layout }, { LOAD, BM, BN }) {
    // A warpgroup has 64 rows, and those that do not exist are not read; a box of B by rows has 64
    // columns.
    const tensor = LOAD === "tensor", box = tensor && layout === "nn" ? 64 : 0;
    return padding("BM", BM, nextPowerOfTwo(m, tensor ? 64 : 16)) ??
      padding("BN", BN, Math.max(2 * Math.max(n, 16) - 1, box));
  },
  maps(point, config, { tensorMaps }) {
    if (config.LOAD !== "tensor") return undefined;
    if (!tensorMaps) return "the device, or its driver, has no tensor maps";
    const rows = boxRowsOf(point, config);
    if (rows.some((count) => count % 8 !== 0)) {
      return `boxes of ${rows.join(" and ")} rows are not whole eights`;
    }
    return Math.max(...rows) <= 256
      ? undefined
      : `boxes of ${Math.max(...rows)} rows, 256 are the most`;
  },
  rows({ type }, { LOAD, BM }) {
    return BM >= 16 || (BM === 8 && LOAD === "warps" && type !== "f32")
      ? undefined
      : `BM=${BM}: 16 rows are the least, or 8 with LOAD=warps and 16-bit operands`;
  },
  columns({ layout, type }, { LOAD, BN }) {
    const power = (BN & BN - 1) === 0 && BN >= 16;
    return LOAD === "tensor" || power ||
        (layout === "nt" && type !== "f32" && BN % 8 === 0)
      ? undefined
      : `BN=${BN} is no power of two from 16 on, as B by rows and fp32 need it`;
  },
  warpgroups({ layout }, { LOAD, BM, BN, BK, WARPS }) {
    if (LOAD !== "tensor") return undefined;
    const threads = threadsOf({ LOAD, WARPS });
    if (threads > 1024) return `${threads} threads, 1024 are the most`;
    const columns = BM * BN / 16 / WARPS;
    if (layout === "nn" && (BN % 64 !== 0 || columns % 64 && 64 % columns)) {
      return `${columns} of BN=${BN} columns for a warpgroup are no boxes of 64 columns, or whole parts of one`;
    }
    return BM % 64 === 0 && WARPS % 4 === 0 && BK % 64 === 0 &&
        columns % 8 === 0 && columns <= 256 && BM <= 16 * WARPS
      ? undefined
      : `${WARPS} warps are no warpgroups with products of 64 rows, 8 to 256 columns and 64 of K`;
  },
  registers(point, config) {
    if (config.LOAD === "tensor") return undefined;
    const needed = registersOf(point, config);
    const most = Math.min(255, 65536 / 32 / config.WARPS);
    return needed <= most
      ? undefined
      : `about ${needed} registers of a lane, ${config.WARPS} warps leave ${most}`;
  },
  warps(point, config) {
    const { LOAD, WARPS, KWARPS, BK } = config;
    if (config.LOAD === "tensor") return undefined;
    if (WARPS % KWARPS !== 0) {
      return `KWARPS=${KWARPS} does not divide WARPS=${WARPS}`;
    }
    const step = point.type === "f32" ? 4 : 16;
    const shared = warpTilingOf(point, config).k;
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
    return emptySlices(point.k, { slices: slicesOf(config), slice });
  },
  stages(point, config) {
    const { STAGES, BK } = config;
    const all = sliceOf(point, config) / BK;
    const steps = Math.ceil(all);
    if (BK > 128 && 2 * all <= 1) {
      return `more than half of BK=${BK} would be padding`;
    }
    // By tensor maps a stage is free once the next step has come: one would never be.
    if (STAGES === 1 && steps > 1) {
      return `one stage for ${steps} steps of BK=${BK}`;
    }
    return STAGES <= Math.max(2, steps)
      ? undefined
      : `${STAGES} stages for ${steps} steps of BK=${BK}`;
  },
  meeting(point, config) {
    return warpReduceBytes(point, config) <= ringBytes(point, config)
      ? undefined
      : `the sums of ${
        warpTilingOf(point, config).k
      } warps do not fit in the ring`;
  },
  shared: fitsMemory(sharedBytes),
  cluster(point, config, { clusters }) {
    const { LOAD, CLUSTER, PARTS, TILES_M = 1, TILES_N = 1 } = config;
    const [x, y] = tilesOf(point, config);
    if (TILES_N > x || TILES_M > y) {
      return `a cluster of ${TILES_N} x ${TILES_M} tiles, there are ${x} x ${y}`;
    }
    if (tilesAtOnce(config) > 1 && PARTS > 1) {
      return "clusters that share a tile have no other";
    }
    if (tilesAtOnce(config) > 1 && LOAD !== "tensor") {
      return "only copies by tensor maps come to several tiles";
    }
    const blocks = CLUSTER * tilesAtOnce(config);
    if (blocks > 16) return `a cluster of ${blocks} blocks, 16 are the most`;
    return clusters?.[blocks - 1] === 0
      ? `no cluster of ${blocks} blocks fits on the device`
      : undefined;
  },
  grid: fitsGrid(tilesOf),
};

/**
 * Requires that blocks that wait on each other are co-resident. The driver is asked again at the
 * launch, which knows how many registers the kernel takes.
 */
export const resident: Rule<MatmulPoint, ClusterConfig> = (
  point,
  config,
  info,
) => {
  const [x, y] = tilesOf(point, config);
  const blocks = x * y * slicesOf(config);
  const { CLUSTER } = config;
  // Units come in pairs, and more than that of them in groups whose sizes the driver knows.
  if (CLUSTER > 2 && !info.clusters) {
    return `it is not known how many clusters of ${CLUSTER} are on the device at once`;
  }
  const most = clustersAtOnce(info, CLUSTER) * CLUSTER *
    perUnit(point, config, info);
  return blocks <= most
    ? undefined
    : `${blocks} blocks wait for one another, ${most} are on the device at once`;
};

/** Blocks of which a unit holds at least as many, of so many registers a thread. */
function perUnit(
  point: MatmulPoint,
  config: ClusterConfig,
  info: Pick<DeviceInfo, "sharedBytes">,
  registers = 255,
): number {
  const needs = {
    threads: threadsOf(config),
    sharedBytes: sharedBytes(point, config),
    registers,
  };
  return Math.max(1, blocksPerUnit(needs, info));
}

/**
 * Clocks in which the lanes of a block read what they multiply in fp32, for each element of K: 16
 * bytes a lane and 8 lanes a clock, of a lane's rows and columns.
 */
function readsOf(point: MatmulPoint, config: ClusterConfig): number {
  const { m, n } = warpTilingOf(point, config);
  const { rows, columns, groups } = lanesOf(point, config);
  const positions = config.BM * columnsOf(point, config) / m / n;
  return positions / groups * (rows + columns);
}

/**
 * A rough time in µs of products of warps, of use to order configs: the copy of what the blocks read, the last step's
 * products, and how the sums meet. Rates are those seen on an H200 with a cold cache whose lines
 * are dirty; `docs/notes/2026-11-22-performance.md` has the measurements.
 */
export function predict(
  point: MatmulPoint,
  config: ClusterConfig,
  info: Pick<DeviceInfo, "units" | "sharedBytes" | "clusters">,
): number {
  const { m, n, k, type } = point;
  const { LOAD, BM, BK, WARPS, STAGES, CLUSTER, PARTS } = config;
  const [x, y] = tilesOf(point, config);
  const BN = columnsOf(point, config);
  const blocks = x * y * slicesOf(config);
  const registers = Math.min(255, registersOf(point, config));
  const held = perUnit(point, config, info, registers);
  const beside = Math.max(1, Math.min(held, blocks / info.units));
  const atOnce = clustersAtOnce(info, CLUSTER) * held;
  const waves = Math.ceil(blocks / CLUSTER / atOnce);
  const slice = sliceOf(point, config);
  // Rows that do not exist are not read.
  const block = (Math.min(m, BM) + BN) * slice * BYTES[type];
  const read = (m + n) * k * BYTES[type];
  // Bytes per µs: of memory, of the cache, into one unit.
  const copy = Math.max(
    Math.min(1.1 + read / 2.2e6, 2 + read / 3.4e6),
    0.8 + blocks * block / 7e6,
    0.8 + waves * beside * block / 60e3,
  );
  const steps = Math.ceil(slice / BK);
  // Shared memory is read at 128 bytes a clock, in fp32 by each lane for itself; a unit
  // multiplies 98 fp32 (128 are never seen) or 1024 of 16 bits.
  const rate = type === "f32" ? 98 : 1024;
  const math = Math.max(
    type === "f32"
      ? readsOf(point, config) * slice / CLOCKS_PER_US
      : block / 225e3,
    // Of eight rows as much as of sixteen.
    Math.max(BM, 16) * BN * slice / CLOCKS_PER_US / rate,
  );
  // One warp of a scheduler does not hide what it waits for.
  const alone = WARPS < 8 ? 1.2 : 1;
  const tile = BM * BN * BYTES.f32;
  const warps = warpTilingOf(point, config).k;
  // What is in flight with the first step comes with it; a stage takes a trip to memory to be
  // filled again, and half of one is being read meanwhile.
  const first = Math.min(1.05 + copy * STAGES / steps, 0.9 * copy);
  const trips = first +
    Math.max(0, steps - STAGES) * 1.1 / (STAGES - 0.5);
  // Warps that share a ring begin each step together, and wait for what they read.
  const together = LOAD === "warps" ? 0.02 : type === "f32" ? 0.2 : 0.05;
  const few = LOAD === "warps" && WARPS < 8 ? 0.25 : 0;
  // A warp's products of the last step follow one another.
  const chain = LOAD === "ring" ? 0.02 * BK / 16 / warps : 0;
  const come = Math.max(copy, trips);
  const meeting = (warps > 1 ? 0.1 + 2 * warps * tile / 225e3 : 0) +
    (CLUSTER > 1 ? 0.35 + CLUSTER * 0.02 + 2 * tile / 60e3 : 0) +
    (PARTS > 1
      ? 0.65 + PARTS * 0.004 + 1.2 * blocks * tile / CLUSTER / 1e6
      : 0);
  return Math.max(come + math / Math.min(4, steps), first + math * alone) +
    together * steps + few + chain + meeting +
    (waves - 1) * (1 + math + meeting);
}

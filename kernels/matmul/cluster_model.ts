/**
 * How many blocks of a one-launch kernel a device holds, and about how long a config takes.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device.ts";
import { BYTES } from "../../bench/dtype.ts";
import type { Rule } from "../../bench/kernel.ts";
import { blocksPerUnit } from "../../bench/waves.ts";
import {
  type ClusterConfig,
  cutOf,
  laneGroups,
  sharedBytes,
  sliceOf,
  slicesOf,
  tilesOf,
} from "./cluster_configs.ts";
import type { MatmulPoint } from "./op.ts";

/** What blocks must obey that wait for one another: all are on the device at once. */
export const resident: Rule<MatmulPoint, ClusterConfig> = (
  point,
  config,
  info,
) => {
  const [x, y] = tilesOf(point, config);
  const blocks = x * y * slicesOf(config);
  const most = info.units * perUnit(point, config, info);
  // Units come in pairs, and more than that of them in groups of unknown size.
  if (config.CLUSTER > 2) {
    return `it is not known how many clusters of ${config.CLUSTER} are on the device at once`;
  }
  return blocks <= most
    ? undefined
    : `${blocks} blocks wait for one another, ${most} are on the device at once`;
};

/** Blocks of which a unit holds at least as many, whatever registers the compiler takes. */
function perUnit(
  point: MatmulPoint,
  config: ClusterConfig,
  info: Pick<DeviceInfo, "sharedBytes">,
): number {
  const needs = {
    threads: 32 * config.WARPS,
    sharedBytes: sharedBytes(point, config),
    registers: 255,
  };
  return Math.max(1, blocksPerUnit(needs, info));
}

/**
 * Clocks in which the lanes of a block read what they multiply in fp32, for each element of K: 16
 * bytes a lane and 8 lanes a clock, of a lane's rows and columns.
 */
function readsOf(config: ClusterConfig): number {
  const { m, n } = cutOf(config);
  const groups = laneGroups(config);
  const positions = config.BM * config.BN / m / n;
  return positions / groups * (m / (8 / groups) + n / 4);
}

/**
 * A rough time in µs, of use to order configs: the copy of what the blocks read, the last step's
 * products, and how the sums meet. Rates are those seen on an H200 with a cold cache whose lines
 * are dirty; `docs/performance.md` has the measurements.
 */
export function predict(
  point: MatmulPoint,
  config: ClusterConfig,
  info: Pick<DeviceInfo, "units" | "sharedBytes">,
): number {
  const { m, n, k, type } = point;
  const { LOAD, BM, BN, BK, WARPS, CLUSTER, PARTS } = config;
  const [x, y] = tilesOf(point, config);
  const blocks = x * y * slicesOf(config);
  const together = Math.min(perUnit(point, config, info), blocks / info.units);
  const waves = Math.ceil(
    blocks / info.units / Math.max(1, Math.floor(together)),
  );
  const slice = sliceOf(point, config);
  // Rows that do not exist are not read.
  const block = (Math.min(m, BM) + BN) * slice * BYTES[type];
  const read = (m + n) * k * BYTES[type];
  // Bytes per µs: of memory, of the cache, into one unit.
  const copy = Math.max(
    Math.min(read / 2.2e6, 1.1 + read / 3.6e6),
    blocks * block / 6.2e6,
    waves * Math.max(1, together) * block / 56e3,
  );
  const steps = Math.ceil(slice / BK / (LOAD === "direct" ? WARPS : 1));
  // Shared memory is read at 128 bytes a clock, in fp32 by each lane for itself; a unit
  // multiplies 128 fp32, 1024 of 16 bits, or 2000 by warpgroups.
  const rate = LOAD === "wgmma" ? 2000 : type === "f32" ? 128 : 1024;
  const math = Math.max(
    LOAD === "direct"
      ? 0
      : type === "f32"
      ? readsOf(config) * slice / 1755
      : block / 225e3,
    BM * BN * slice / 1755 / rate,
  );
  const tile = BM * BN * BYTES.f32;
  const warps = cutOf(config).k;
  // A warp's products of the last step follow one another.
  const chain = LOAD === "ring" ? 0.02 * BK / 16 / warps : 0;
  return copy + math / Math.min(4, steps) + Math.max(0, math - copy) +
    0.02 * steps + chain +
    (warps > 1 ? 0.1 + 2 * warps * tile / 225e3 : 0) +
    (CLUSTER > 1 ? 0.6 + CLUSTER * 0.02 + 2 * tile / 60e3 : 0) +
    (PARTS > 1 ? 1 + PARTS * 0.01 + blocks * tile / CLUSTER / 400e3 : 0) +
    0.5 * (waves - 1);
}

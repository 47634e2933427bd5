/**
 * The configs of the one-launch kernel of warpgroups that are tried, and a model of their time.
 *
 * @module
 */

import type { DeviceInfo } from "../../../../bench/device/device.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { emptySlices } from "../../../common/rules.ts";
import { clustersAtOnce } from "../../../common/sm90.ts";
import {
  type ClusterConfig,
  isBySlot,
  reductionBytes,
  ringBytes,
  sliceOf,
  tilesOf,
} from "./configs.ts";
import type { MatmulPoint } from "../../point.ts";

/** Columns of a tile, or fewer that make as many tiles. */
const COLUMNS = [16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256];
const CLUSTERS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];
/** K steps, and how many are in flight at most. */
const STEPS = [[128, 8], [64, 12]] as const;
/** Tiles of a cluster along M and along N. */
const BESIDE = [[1, 1], [2, 2]] as const;

type Shape = Pick<MatmulPoint, "m" | "n" | "k" | "type" | "layout">;
type Limits = Pick<DeviceInfo, "units" | "sharedBytes" | "clusters">;

/**
 * Tiles of 64 and 128 rows, with the most slices whose blocks are all on the device at once, and
 * all steps in flight, or all that there is room for.
 */
export function* wgmmaConfigs(
  shape: Shape,
  limits: Limits,
): Iterable<ClusterConfig> {
  const { m, n, layout } = shape;
  // B by rows is copied in boxes of 64 columns.
  const whole = layout === "nn" ? 64 : 8;
  const columns = new Set(
    COLUMNS.filter((BN) =>
      BN >= whole && (BN === whole || BN < 2 * Math.max(n, 16))
    )
      .map((BN) => Math.ceil(n / Math.ceil(n / BN) / whole) * whole),
  );
  for (const BM of m > 64 ? [64, 128] : [64]) {
    for (const BN of columns) {
      for (const cluster of joins(shape, { BM, BN }, limits)) {
        yield* rings(shape, { LOAD: "tensor", BM, BN, ...cluster }, limits);
      }
    }
  }
}

/** The most slices of which all blocks are on the device at once. */
function* joins(
  shape: Shape,
  tile: Pick<ClusterConfig, "BM" | "BN">,
  limits: Limits,
) {
  const [x, y] = tilesOf(shape, tile);
  for (const [TILES_M, TILES_N] of BESIDE) {
    const tiles = TILES_M * TILES_N;
    const clusters = Math.ceil(x / TILES_N) * Math.ceil(y / TILES_M);
    const CLUSTER = CLUSTERS.findLast((size) =>
      size * tiles === 1 ||
      size * tiles <= 16 && clusters <= clustersAtOnce(limits, size * tiles) &&
        allSlicesHaveSome(shape, size)
    );
    if (!CLUSTER) continue;
    yield { CLUSTER, PARTS: 1, ...(tiles > 1 ? { TILES_M, TILES_N } : {}) };
  }
}

/** Returns whether no block is left without any of K where a tile has so many and steps are whole. */
function allSlicesHaveSome({ k }: Shape, slices: number): boolean {
  const [[BK]] = STEPS;
  const whole = { LOAD: "tensor", BK, CLUSTER: slices, PARTS: 1 } as const;
  return !emptySlices(k, { slices, slice: sliceOf({ k }, whole) });
}

function* rings(
  shape: Shape,
  config: Pick<ClusterConfig, "LOAD" | "BM" | "BN" | "CLUSTER" | "PARTS">,
  { sharedBytes }: Limits,
): Iterable<ClusterConfig> {
  const { BM, BN, CLUSTER } = config;
  for (const [BK, inFlight] of STEPS) {
    for (const WARPS of warps(BM, BN)) {
      const one = { ...config, BK, WARPS, KWARPS: 1, STAGES: 1 };
      const steps = Math.ceil(shape.k / CLUSTER / BK);
      const stage = ringBytes(shape, one) + 16;
      const room = Math.floor(
        (sharedBytes - reductionBytes(shape, one)) / stage,
      );
      const STAGES = Math.min(steps, room, inFlight);
      if (STAGES >= Math.min(2, steps)) yield { ...one, STAGES };
    }
  }
}

/** One warpgroup for 64 rows, or two, each with half of the columns. */
function warps(BM: number, BN: number): readonly number[] {
  return BM === 64 && BN >= 64 && BN % 16 === 0 ? [4, 8] : [BM / 16];
}

/**
 * A rough time in µs of products of warpgroups, of use to order configs. It was fitted to 900 pairs
 * of shape and config on an H200 (`docs/notes/2026-11-23-decode-wgmma.md`).
 */
export function predictWgmma(
  shape: Shape,
  config: ClusterConfig,
  limits: Limits,
): number {
  const { m, n, k, type } = shape;
  const { BM, BN, BK, CLUSTER, STAGES } = config;
  const { TILES_M = 1, TILES_N = 1 } = config;
  const tiles = TILES_M * TILES_N;
  const [x, y] = tilesOf(shape, config);
  const clusters = Math.ceil(x / TILES_N) * Math.ceil(y / TILES_M);
  const blocks = clusters * tiles * CLUSTER;
  const waves = Math.ceil(clusters / clustersAtOnce(limits, CLUSTER * tiles));
  const rows = Math.min(Math.ceil(m / 8) * 8, BM);
  const steps = Math.ceil(k / CLUSTER / BK);
  const bytes = steps * BK * BYTES[type];
  const read = (m + n) * k * BYTES[type];
  // From memory, from the cache, into a unit, and the trips that a stage takes to be filled again.
  const copies = [
    Math.min(1.1 + read / 0.77e6, 2.46 + read / 2.67e6),
    0.17 + blocks * (rows / TILES_N + BN / TILES_M) * bytes / 7.03e6,
    0.17 + waves * (rows + BN) * bytes / 151e3,
    0.17 + 1.98 * Math.max(0, steps / STAGES - 1),
  ];
  // A long stage comes late, as do sums of other blocks.
  const stage = (rows + BN) * BK * BYTES[type];
  const sent = BM * BN * BYTES.f32 * (CLUSTER - 1) / CLUSTER;
  return 3.6 + Math.hypot(...copies.map((time) => time ** 7)) ** (1 / 7) +
    (BK > 64 ? 3.4e-6 * stage : 0) + 0.018 * steps + 2 * (waves - 1) +
    sent / (isBySlot(shape, config) ? 44e3 : 32e3) + (tiles > 1 ? 0.57 : 0) +
    0.011 * Math.max(0, limits.units - blocks);
}

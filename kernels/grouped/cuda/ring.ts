/**
 * The kernels of ring.cu: tiles from a counter, and clusters that share rows of A.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import type { Rules } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { launched, uploaded } from "../../common/launch.ts";
import { fitsMemory, noBulkCopies } from "../../common/rules.ts";
import { groupedMatmul } from "../op.ts";
import {
  type GroupedPoint,
  realProblems,
  uploadedTable,
  wholeSlabs,
} from "../point.ts";

/** The macros of ring.cu. */
type RingConfig = Values & {
  /** Rows of A and of B of a tile. */
  readonly BM: number;
  readonly BN: number;
  /** Steps of 256 elements of K in flight or in use. */
  readonly STAGES: number;
  /** Blocks that share rows of A. */
  readonly CLUSTER: number;
};

/** Elements of K of a stage, the bytes from row to row there, and those of its scales. */
const [STEP, LINE, SCALES] = [256, 160, 4096];
/** Two barriers for each stage; two slots for tiles, each with two barriers. */
const [STAGE_BARRIERS, TICKETS] = [16, 40];

function sharedBytes({ BM, BN, STAGES }: RingConfig): number {
  return STAGES * ((BM + BN) * LINE + SCALES + STAGE_BARRIERS) + TICKETS;
}

function tilesOf(point: GroupedPoint, { BM, BN, CLUSTER }: RingConfig): number {
  return realProblems(point).reduce(
    (sum, { m, n }) => sum + Math.ceil(m / BM) * Math.ceil(n / (BN * CLUSTER)),
    0,
  );
}

function clustersOf(
  point: GroupedPoint,
  config: RingConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  return Math.min(tilesOf(point, config), Math.floor(units / config.CLUSTER));
}

const rules: Rules<GroupedPoint, RingConfig> = {
  rows(point, { BM }) {
    const most = Math.max(...realProblems(point).map(({ m }) => m));
    return BM === 64 || most > BM / 2
      ? undefined
      : `more than half of BM=${BM} would be empty`;
  },
  cluster(point, { BN, CLUSTER }) {
    const most = Math.max(...realProblems(point).map(({ n }) => n));
    return CLUSTER === 1 || BN * (CLUSTER - 1) < most
      ? undefined
      : `${CLUSTER} blocks of BN=${BN}, no problem has more than ${most} rows of B`;
  },
  shared: fitsMemory((_, config) => sharedBytes(config)),
};

/** Clocks of a step of K for 32 rows of A and 64 of B, which four warps share. */
const STEP_CLOCKS = 2200;
const MHZ = 1700;

/** A rough time in µs: rounds of tiles, or the copies of their rows. */
function predict(
  point: GroupedPoint,
  config: RingConfig,
  info: Pick<DeviceInfo, "units">,
): number {
  const { BM, BN, STAGES, CLUSTER } = config;
  const clusters = clustersOf(point, config, info);
  const steps = realProblems(point).reduce(
    (sum, { m, n, k }) =>
      sum + Math.ceil(m / BM) * Math.ceil(n / (BN * CLUSTER)) *
        Math.ceil(k / STEP),
    0,
  );
  const longest = Math.max(...realProblems(point).map(({ k }) => k)) / STEP;
  const rounds = Math.ceil(steps / clusters / longest) * longest;
  const clocks = Math.max(
    STEP_CLOCKS * BM * BN / (64 * 128),
    10 * (BM / CLUSTER + BN),
  );
  return 3 + rounds * clocks / MHZ * (1 + 0.3 / STAGES);
}

function define(
  variant: {
    readonly name: string;
    readonly idea: string;
    configs(): Iterable<RingConfig>;
  },
): Kernel<GroupedPoint> {
  return launched<GroupedPoint, RingConfig>(groupedMatmul, {
    ...variant,
    backend: "cuda",
    unsupported: (point, info) => noBulkCopies(info) ?? wholeSlabs(point),
    rules,
    predict,
    build: (_, config) => ({
      source: new URL("./ring.cu", import.meta.url),
      defines: config,
    }),
    launch(site) {
      const { point, config, device: { info } } = site;
      const counter = uploaded(site, new Uint8Array(4));
      const clusters = clustersOf(point, config, info);
      // Each cluster asks once more than it gets: the count after which it starts at 0 again.
      const last = tilesOf(point, config) + clusters - 1;
      const warps = config.BM / 32 * (config.BN / 64) + 1;
      return {
        args: [
          ...[uploadedTable(site), realProblems(point).length],
          ...[counter, last, point.layout !== "nt"],
        ],
        shape: {
          grid: [clusters * config.CLUSTER, 1, 1],
          block: [32 * warps, 1, 1],
          cluster: config.CLUSTER,
          sharedBytes: sharedBytes(config),
        },
      };
    },
  });
}

/** Tiles of one size, taken from a counter. */
export const dynamic: Kernel<GroupedPoint> = define({
  name: "dynamic",
  idea: "tiles from a counter, a warp that copies ahead, decoded in registers",
  configs: () => grid({ BM: [64], BN: [128], STAGES: [4], CLUSTER: [1] }),
});

/** Tiles, depth and clusters to choose from. */
export const cluster: Kernel<GroupedPoint> = define({
  name: "cluster",
  idea:
    "dynamic with rows of A copied once for a cluster, tile and depth chosen",
  configs: () =>
    grid({
      BM: [64, 128],
      BN: [128, 64],
      STAGES: [3, 4, 6],
      CLUSTER: [2, 4, 1],
    }),
});

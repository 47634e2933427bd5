/**
 * The CUDA kernels of {@linkcode groupedMatmul}, in the order in which the competition's entry
 * that this follows was made: each adds one idea.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../../bench/device/device.ts";
import type { Step } from "../../../bench/device/queue.ts";
import { defineKernel, type Rules } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { launch, launched, uploaded } from "../../common/launch.ts";
import { fitsMemory, noBulkCopies, noE4m3 } from "../../common/rules.ts";
import { groupedMatmul } from "../op.ts";
import {
  type GroupedPoint,
  realProblems,
  uploadedTable,
  wholeSlabs,
} from "../point.ts";
import { best } from "./best.ts";
import { blackwell } from "./blackwell/blackwell.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";

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

/** Tiles from a counter; tiles, depth and clusters to choose from. */
const cluster: Kernel<GroupedPoint> = launched<GroupedPoint, RingConfig>(
  groupedMatmul,
  {
    name: "cluster",
    backend: "cuda",
    idea:
      "tiles from a counter, a warp that copies ahead, decoded in registers, A shared by a cluster",
    configs: () =>
      grid({
        BM: [64, 128],
        BN: [128, 64],
        STAGES: [3, 4, 6],
        CLUSTER: [2, 4, 1],
      }),
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
  },
);

/** Of plain.cu. */
const [TILE, THREADS] = [64, 128];
/** Blocks of `persistent` that a multiprocessor holds, by registers: 72 of 128 threads. */
const RESIDENT = 6;

const PLAIN: Build = {
  source: new URL("./plain.cu", import.meta.url),
  defines: {},
};

/** A launch and a wait for each problem, as the host does. */
const perGroup: Kernel<GroupedPoint> = defineKernel(groupedMatmul, {
  name: "per-group",
  backend: "cuda",
  idea:
    "a launch for each problem, waited for; operands decoded to shared memory",
  unsupported: (point, info) => noE4m3(info) ?? wholeSlabs(point),
  builds: () => [PLAIN],
  prepare(site) {
    const table = uploadedTable(site);
    const wait: Step = {
      label: "wait for the device",
      capturable: false,
      enqueue: () => site.device.synchronize(),
    };
    return {
      steps: realProblems(site.point).flatMap(({ m, n }, i) => [
        launch(site, PLAIN, {
          entry: "per_group",
          args: [table, i, site.point.layout !== "nt"],
          shape: {
            grid: [Math.ceil(n / TILE), Math.ceil(m / TILE), 1],
            block: [THREADS, 1, 1],
          },
        }),
        wait,
      ]),
    };
  },
});

/** All tiles in one launch. */
const persistent: Kernel<GroupedPoint> = launched(groupedMatmul, {
  name: "persistent",
  backend: "cuda",
  idea: "one launch: the tiles of all problems, dealt out in turn",
  unsupported: (point, info) => noE4m3(info) ?? wholeSlabs(point),
  build: () => PLAIN,
  launch(site) {
    const problems = realProblems(site.point);
    const tiles = problems.reduce(
      (sum, { m, n }) => sum + Math.ceil(m / TILE) * Math.ceil(n / TILE),
      0,
    );
    return {
      entry: "persistent",
      args: [uploadedTable(site), problems.length, site.point.layout !== "nt"],
      shape: {
        grid: [Math.min(tiles, RESIDENT * site.device.info.units), 1, 1],
        block: [THREADS, 1, 1],
      },
    };
  },
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<GroupedPoint>[] = [
  perGroup,
  persistent,
  cluster,
  best,
  blackwell,
];

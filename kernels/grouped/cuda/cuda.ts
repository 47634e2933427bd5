/**
 * The CUDA kernels of {@linkcode groupedMatmul}, in the order in which the competition's entry
 * that this follows was made: each adds one idea.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { Step } from "../../../bench/device/queue.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { launch, launched } from "../../common/launch.ts";
import { noE4m3 } from "../../common/rules.ts";
import { groupedMatmul } from "../op.ts";
import {
  type GroupedPoint,
  realProblems,
  uploadedTable,
  wholeSlabs,
} from "../point.ts";
import { best } from "./best.ts";
import { blackwell } from "./blackwell/blackwell.ts";
import { cluster, dynamic } from "./ring.ts";

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
  dynamic,
  cluster,
  best,
  blackwell,
];

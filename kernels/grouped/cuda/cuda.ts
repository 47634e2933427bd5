/**
 * The CUDA kernels of {@linkcode groupedMatmul}, in the order in which the competition's entry
 * that this follows was made: each adds one idea.
 *
 * @module
 */

import type { Build, Device } from "../../../bench/device/device.ts";
import { i32, mem, type Step } from "../../../bench/device/queue.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { noE4m3 } from "../../common/arch.ts";
import { groupedMatmul } from "../op.ts";
import { type GroupedPoint, realProblems, wholeSlabs } from "../point.ts";
import { uploadedTable } from "../problem_table.ts";
import { best } from "./best.ts";
import { blackwell } from "./blackwell/blackwell.ts";
import { cluster, dynamic } from "./ring.ts";

/** Of plain.cuh. */
const [TILE, THREADS] = [64, 128];
/** Blocks of persistent.cu that a multiprocessor holds, by registers: 72 of 128 threads. */
const RESIDENT = 6;

const PER_GROUP: Build = {
  source: new URL("./per_group.cu", import.meta.url),
  defines: {},
};
const PERSISTENT: Build = {
  source: new URL("./persistent.cu", import.meta.url),
  defines: {},
};

/** A step that waits for the device, as the host does after each launch. */
function waitStep(device: Device): Step {
  return {
    label: "wait for the device",
    capturable: false,
    enqueue: () => device.synchronize(),
  };
}

/** A launch and a wait for each problem. */
const perGroup: Kernel<GroupedPoint> = defineKernel(groupedMatmul, {
  name: "per-group",
  backend: "cuda",
  idea:
    "a launch for each problem, waited for; operands decoded to shared memory",
  unsupported: (point, info) => noE4m3(info) ?? wholeSlabs(point),
  builds: () => [PER_GROUP],
  prepare(site) {
    const table = uploadedTable(site);
    const program = site.program(PER_GROUP, "per_group");
    return {
      steps: realProblems(site.point).flatMap(({ m, n }, i) => [
        program.step([
          mem(table),
          i32(i),
          i32(Number(site.point.layout !== "nt")),
        ], {
          grid: [Math.ceil(n / TILE), Math.ceil(m / TILE), 1],
          block: [THREADS, 1, 1],
        }),
        waitStep(site.device),
      ]),
    };
  },
});

/** All tiles in one launch. */
const persistent: Kernel<GroupedPoint> = defineKernel(groupedMatmul, {
  name: "persistent",
  backend: "cuda",
  idea: "one launch: the tiles of all problems, dealt out in turn",
  unsupported: (point, info) => noE4m3(info) ?? wholeSlabs(point),
  builds: () => [PERSISTENT],
  prepare(site) {
    const problems = realProblems(site.point);
    const tiles = problems.reduce(
      (sum, { m, n }) => sum + Math.ceil(m / TILE) * Math.ceil(n / TILE),
      0,
    );
    return {
      steps: [
        site.program(PERSISTENT, "persistent").step([
          mem(uploadedTable(site)),
          i32(problems.length),
          i32(Number(site.point.layout !== "nt")),
        ], {
          grid: [Math.min(tiles, RESIDENT * site.device.info.units), 1, 1],
          block: [THREADS, 1, 1],
        }),
      ],
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

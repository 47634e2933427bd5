/**
 * The CPU kernels of {@linkcode groupedMatmul}: the one to read, and ours.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { naive } from "./naive.ts";
import { groupedMatmul } from "../op.ts";
import { type GroupedPoint, realProblems } from "../point.ts";
import { uploadedTable } from "../problem_table.ts";

/** What the kernel may choose. */
type Blocks = {
  /** Rows of B that a thread decodes at a time; a multiple of 4, at most MAX_ROWS. */
  readonly ROWS: number;
};

const BUILD: Build = {
  source: new URL("./grouped.c", import.meta.url),
  defines: {},
};

/** All problems as one queue of blocks of B's rows. */
export const cpuGrouped: Kernel<GroupedPoint> = defineKernel<
  GroupedPoint,
  Blocks
>(groupedMatmul, {
  name: "grouped",
  backend: "cpu",
  idea: "blocks of all problems in one queue, B decoded once in the cache",
  // Few rows stay in the first-level cache, many reuse what of A is there.
  configs: () => grid({ ROWS: [16, 4, 64] }),
  builds: () => [BUILD],
  prepare(site) {
    const { point, config, device, program, alloc } = site;
    const problems = realProblems(point);
    const wide = problems.reduce((sum, { m, k }) => sum + m * k, 0);
    return {
      steps: [
        program(BUILD, "grouped").step([
          mem(uploadedTable(site)),
          mem(alloc(wide * BYTES.f32)),
          i32(problems.length),
          i32(Number(point.layout !== "nt")),
          i32(config.ROWS),
          i32(device.info.units),
        ], { grid: [1, 1, 1], block: [1, 1, 1] }),
      ],
    };
  },
});

/** In the order of listings and tables. */
export const cpuKernels: readonly Kernel<GroupedPoint>[] = [naive, cpuGrouped];

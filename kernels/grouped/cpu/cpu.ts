/**
 * The CPU kernels of {@linkcode groupedMatmul}: naive loops, and blocks of all problems in one queue.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { BYTES, encode } from "../../../bench/model/dtype.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { groupedMatmul } from "../op.ts";
import { type GroupedPoint, realProblems } from "../point.ts";
import { uploadedTable } from "../problem_table.ts";
import { product } from "../reference.ts";

/** A second of loops; timing takes dozens of runs. */
const MOST_FLOPS = 1e9;

/** Needs no compiler, so it runs wherever Deno does. */
const naive: Kernel<GroupedPoint> = defineKernel(groupedMatmul, {
  name: "naive",
  backend: "cpu",
  idea: "one problem after another, loops in TypeScript, to be read",
  unsupported(point) {
    const { flops } = groupedMatmul.work(point);
    return flops > MOST_FLOPS
      ? `${
        (flops / 1e9).toPrecision(2)
      } Gflop are a matter of minutes in TypeScript`
      : undefined;
  },
  prepare({ point, operands }) {
    const enqueue = () => {
      for (const { group, ...sizes } of realProblems(point)) {
        const host = (name: string) => operands[`${name}${group}`]!.host!;
        const matrix = (name: string) => ({
          codes: host(name),
          scales: host(`SF${name}`),
          k: sizes.k,
        });
        const problem = { ...sizes, a: matrix("A"), b: matrix("B") };
        host("C").set(encode(product(problem, point), "f16"));
      }
    };
    return { steps: [{ label: "naive", capturable: false, enqueue }] };
  },
});

/** The tunables. */
type Blocks = {
  /** Rows of B that a thread decodes at a time; a multiple of 4, at most MAX_ROWS. */
  readonly ROWS: number;
};

const BUILD: Build = {
  source: new URL("./grouped.c", import.meta.url),
  defines: {},
};

/** All problems as one queue of blocks of B's rows. */
const cpuGrouped: Kernel<GroupedPoint> = defineKernel<
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

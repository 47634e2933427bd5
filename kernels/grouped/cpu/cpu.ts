/**
 * The CPU kernels of {@linkcode groupedMatmul}: naive loops, and blocks of all problems in one queue.
 *
 * @module
 */

import { BYTES, encode } from "../../../bench/model/dtype.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { launched } from "../../common/launch.ts";
import { groupedMatmul } from "../op.ts";
import { type GroupedPoint, realProblems, uploadedTable } from "../point.ts";
import { productOf } from "../reference.ts";

/** A second of loops; timing takes dozens of runs. */
const MOST_FLOPS = 1e9;

/** Needs no compiler, so it runs wherever Deno does. */
const naive: Kernel<GroupedPoint> = defineKernel(groupedMatmul, {
  name: "naive",
  backend: "cpu",
  idea: "one problem after another, loops in TypeScript, to be read",
  teaching: true,
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
        host("C").set(encode(productOf(problem, point), "f16"));
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

/** All problems as one queue of blocks of B's rows. */
const cpuGrouped: Kernel<GroupedPoint> = launched<GroupedPoint, Blocks>(
  groupedMatmul,
  {
    name: "grouped",
    backend: "cpu",
    idea: "blocks of all problems in one queue, B decoded once in the cache",
    // Few rows stay in the first-level cache, many reuse what of A is there.
    configs: () => grid({ ROWS: [16, 4, 64] }),
    build: () => ({
      source: new URL("./grouped.c", import.meta.url),
      defines: {},
    }),
    launch(site) {
      const { point, config, device, alloc } = site;
      const problems = realProblems(point);
      const wide = problems.reduce((sum, { m, k }) => sum + m * k, 0);
      return {
        args: [
          ...[uploadedTable(site), alloc(wide * BYTES.f32), problems.length],
          ...[point.layout !== "nt", config.ROWS, device.info.units],
        ],
      };
    },
  },
);

/** In the order of listings and tables. */
export const cpuKernels: readonly Kernel<GroupedPoint>[] = [naive, cpuGrouped];

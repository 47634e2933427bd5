/**
 * The right answer of {@linkcode groupedMatmul} where the host would take too long: plain
 * kernels with f64 sums and output.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import { i32, mem } from "../../bench/device/queue.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { type GroupedPoint, realProblems } from "./point.ts";
import { uploadedTable } from "./problem_table.ts";

/** Rows and columns of C that a block of the CUDA kernel computes. */
const TILE = 32;

const CUDA: Build = {
  source: new URL("./cuda/reference.cu", import.meta.url),
  defines: {},
};
const C: Build = {
  source: new URL("./cpu/reference.c", import.meta.url),
  defines: {},
};

/** The plain kernels of `op` for CUDA and the CPU; each C is written as it is stored, unrounded. */
export function referenceKernels(
  op: Op<GroupedPoint>,
): readonly Kernel<GroupedPoint>[] {
  const cuda = defineKernel(op, {
    name: "reference",
    backend: "cuda",
    idea: "the definition, accumulated in double precision",
    builds: () => [CUDA],
    prepare(site) {
      const problems = realProblems(site.point);
      const tiles = (of: "m" | "n") =>
        Math.max(...problems.map((p) => Math.ceil(p[of] / TILE)));
      return {
        steps: [
          site.program(CUDA, "reference").step([
            mem(uploadedTable(site)),
            i32(Number(site.point.layout !== "nt")),
          ], {
            grid: [tiles("n"), tiles("m"), problems.length],
            block: [TILE, 8, 1],
          }),
        ],
      };
    },
  });
  const cpu = defineKernel(op, {
    name: "reference",
    backend: "cpu",
    idea: "plain loops, f64 sums and output",
    builds: () => [C],
    prepare(site) {
      const { point, program } = site;
      return {
        steps: [
          program(C, "reference").step([
            mem(uploadedTable(site)),
            i32(realProblems(point).length),
            i32(Number(point.layout !== "nt")),
          ], { grid: [1, 1, 1], block: [1, 1, 1] }),
        ],
      };
    },
  });
  return [cuda, cpu];
}

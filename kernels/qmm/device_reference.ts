/**
 * The right answer of {@linkcode qmm} where the host would take too long: plain kernels that
 * write y as f64 `[M, N]`.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import { i32, mem } from "../../bench/device/queue.ts";
import { defineKernel, defineLaunch } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { formatArgs, type QmmPoint, weightMemory } from "./point.ts";

/** Warps of a block, each at work on one element of y. */
const WARPS = 4;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 16;

const ON_CPU: Build = {
  source: new URL("./cpu/reference.c", import.meta.url),
  defines: {},
};

/** The plain kernels of `op` for CUDA and the CPU. */
export function referenceKernels(
  op: Op<QmmPoint>,
): readonly Kernel<QmmPoint>[] {
  const cuda = defineLaunch(op, {
    name: "reference",
    backend: "cuda",
    idea: "the definition, accumulated in double precision",
    source: new URL("./cuda/reference.cu", import.meta.url),
    entry: "reference",
    defines: ({ type }) => ({ TYPE: type }),
    args: (point, operands) => [
      mem(operands.x!),
      ...weightMemory(operands),
      mem(operands.y!),
      ...[point.m, point.n, point.k].map(i32),
      ...formatArgs(point),
      i32(Number(point.transposed)),
    ],
    shape: ({ m, n }) => ({
      grid: [Math.min(MOST_BLOCKS, Math.ceil(m * n / WARPS)), 1, 1],
      block: [32 * WARPS, 1, 1],
    }),
  });
  // Not a launch of the operation's arguments alone: it starts a thread for each core.
  const cpu = defineKernel(op, {
    name: "reference",
    backend: "cpu",
    idea: "plain loops, f64 sums and output",
    builds: () => [ON_CPU],
    prepare({ point, operands, device, program }) {
      const { m, n, k, transposed } = point;
      const step = program(ON_CPU, "reference").step([
        mem(operands.x!),
        ...weightMemory(operands),
        mem(operands.y!),
        ...[m, n, k].map(i32),
        ...formatArgs(point),
        ...[Number(transposed), device.info.units].map(i32),
      ], { grid: [1, 1, 1], block: [1, 1, 1] });
      return { steps: [step] };
    },
  });
  return [cuda, cpu];
}

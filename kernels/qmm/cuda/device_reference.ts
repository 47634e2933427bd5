/**
 * The right answer of {@linkcode qmm} on a GPU, where the host would take too long.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import type { Op } from "../../../bench/model/op.ts";
import type { QmmPoint } from "../point.ts";
import { formatArgs, weightMemory } from "../weight_args.ts";

/** Warps of a block, each at work on one element of y. */
const WARPS = 4;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 16;

/** The plain kernel that writes y as f64 `[M, N]`, for CUDA. */
export function cudaReference(op: Op<QmmPoint>): Kernel<QmmPoint> {
  const build = ({ type }: QmmPoint): Build => ({
    source: new URL("./reference.cu", import.meta.url),
    defines: { TYPE: type },
  });
  return defineKernel(op, {
    name: "reference",
    backend: "cuda",
    idea: "the definition, accumulated in double precision",
    builds: (point) => [build(point)],
    prepare({ point, operands, program }) {
      const { m, n, k, transposed } = point;
      const step = program(build(point), "reference").step([
        mem(operands.x!),
        ...weightMemory(operands),
        mem(operands.y!),
        ...[m, n, k].map(i32),
        ...formatArgs(point),
        i32(Number(transposed)),
      ], {
        grid: [Math.min(MOST_BLOCKS, Math.ceil(m * n / WARPS)), 1, 1],
        block: [32 * WARPS, 1, 1],
      });
      return { steps: [step] };
    },
  });
}

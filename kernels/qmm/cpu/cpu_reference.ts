/**
 * The plain C kernel that is right by inspection: f64 sums, f64 output.
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

const BUILD: Build = {
  source: new URL("./reference.c", import.meta.url),
  defines: {},
};

/** The plain kernel that writes y as f64 `[M, N]`, for the CPU. */
export function cpuReference(op: Op<QmmPoint>): Kernel<QmmPoint> {
  return defineKernel(op, {
    name: "reference",
    backend: "cpu",
    idea: "plain loops, f64 sums and output",
    builds: () => [BUILD],
    prepare({ point, operands, device, program }) {
      const { m, n, k, transposed } = point;
      const step = program(BUILD, "reference").step([
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
}

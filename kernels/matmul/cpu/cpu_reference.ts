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
import { biasArg, epilogueArgs, layoutArg, typeArg } from "./args.ts";
import type { MatmulPoint } from "../point.ts";

const BUILD: Build = {
  source: new URL("./reference.c", import.meta.url),
  defines: {},
};

/** The plain kernel that writes C as unpadded f64 `[M, N]`, for the CPU. */
export function cpuReference(op: Op<MatmulPoint>): Kernel<MatmulPoint> {
  return defineKernel(op, {
    name: "reference",
    backend: "cpu",
    idea: "plain loops, f64 sums and output",
    builds: () => [BUILD],
    prepare({ point, operands, program }) {
      const { m, n, k, lda, ldb } = point;
      const step = program(BUILD, "reference").step([
        mem(operands.A!),
        mem(operands.B!),
        biasArg(operands),
        mem(operands.C!),
        ...[m, n, k, lda, ldb].map(i32),
        typeArg(point),
        layoutArg(point),
        ...epilogueArgs(point),
      ], { grid: [1, 1, 1], block: [1, 1, 1] });
      return { steps: [step] };
    },
  });
}

/**
 * The right answer of {@linkcode matmul} on an AMD GPU, where the host would take too long.
 *
 * @module
 */

import { type Build, i32, i64, mem } from "../../bench/device.ts";
import { defineKernel, type Kernel } from "../../bench/kernel.ts";
import type { Op } from "../../bench/op.ts";
import type { MatmulPoint } from "./op.ts";

/** Waves of a block, each at work on one element of C. */
const WAVES = 4;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 16;

/** The plain kernel that writes C as unpadded f64 `[M, N]`, for HIP. */
export function hipReferee(op: Op<MatmulPoint>): Kernel<MatmulPoint> {
  const build = ({ type }: MatmulPoint): Build => ({
    source: new URL("./referee.hip", import.meta.url),
    defines: { TYPE: type },
  });
  return defineKernel(op, {
    name: "referee",
    backend: "hip",
    idea: "the definition, accumulated in double precision",
    builds: (point) => [build(point)],
    prepare({ point, operands, program }) {
      const { m, n, k, lda, ldb, layout, epilogue } = point;
      const [stepK, stepN] = layout === "nn" ? [ldb, 1] : [1, ldb];
      return {
        steps: [
          program(build(point), "referee").step([
            mem(operands.A!),
            mem(operands.B!),
            operands.bias ? mem(operands.bias) : i64(0),
            mem(operands.C!),
            ...[m, n, k].map(i32),
            ...[lda, stepK, stepN].map(i64),
            i32(epilogue.endsWith("relu") ? 1 : 0),
          ], {
            grid: [Math.min(MOST_BLOCKS, Math.ceil(m * n / WAVES)), 1, 1],
            block: [64 * WAVES, 1, 1],
          }),
        ],
      };
    },
  });
}

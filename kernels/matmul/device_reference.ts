/**
 * The right answer of {@linkcode matmul} on a GPU, where the host would take too long.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import { i32, i64, mem } from "../../bench/device/queue.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import type { MatmulPoint } from "./point.ts";

/** Warps, or waves, of a block, each at work on one element of C. */
const WARPS = 4;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 16;

/** The plain kernel that writes C as unpadded f64 `[M, N]`, for CUDA. */
export function cudaReference(op: Op<MatmulPoint>): Kernel<MatmulPoint> {
  return reference(op, { backend: "cuda", file: "reference.cu", lanes: 32 });
}

/** The same for HIP. */
export function hipReference(op: Op<MatmulPoint>): Kernel<MatmulPoint> {
  return reference(op, { backend: "hip", file: "reference.hip", lanes: 64 });
}

/** What differs between the two: `lanes` are those of a warp, or a wave. */
interface Api {
  readonly backend: "cuda" | "hip";
  readonly file: string;
  readonly lanes: number;
}

function reference(
  op: Op<MatmulPoint>,
  { backend, file, lanes }: Api,
): Kernel<MatmulPoint> {
  const build = ({ type }: MatmulPoint): Build => ({
    source: new URL(`./${backend}/${file}`, import.meta.url),
    defines: { TYPE: type },
  });
  return defineKernel(op, {
    name: "reference",
    backend,
    idea: "the definition, accumulated in double precision",
    builds: (point) => [build(point)],
    prepare({ point, operands, program }) {
      const { m, n, k, lda, ldb, layout, epilogue } = point;
      const [stepK, stepN] = layout === "nn" ? [ldb, 1] : [1, ldb];
      return {
        steps: [
          program(build(point), "reference").step([
            mem(operands.A!),
            mem(operands.B!),
            operands.bias ? mem(operands.bias) : i64(0),
            mem(operands.C!),
            ...[m, n, k].map(i32),
            ...[lda, stepK, stepN].map(i64),
            i32(epilogue.endsWith("relu") ? 1 : 0),
          ], {
            grid: [Math.min(MOST_BLOCKS, Math.ceil(m * n / WARPS)), 1, 1],
            block: [lanes * WARPS, 1, 1],
          }),
        ],
      };
    },
  });
}

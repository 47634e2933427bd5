/**
 * The right answer of {@linkcode matmul} where the host would take too long: plain kernels that
 * write C as unpadded f64 `[M, N]`.
 *
 * @module
 */

import { i32, i64, mem } from "../../bench/device/queue.ts";
import { defineLaunch } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import {
  biasArg,
  epilogueArgs,
  hasRelu,
  layoutArg,
  type MatmulPoint,
  typeArg,
} from "./point.ts";

/** Warps, or waves, of a block, each at work on one element of C. */
const WARPS = 4;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 16;

/** The plain kernels of `op` for CUDA, HIP and the CPU. */
export function referenceKernels(
  op: Op<MatmulPoint>,
): readonly Kernel<MatmulPoint>[] {
  return [gpu(op, "cuda", 32), gpu(op, "hip", 64), cpu(op)];
}

/** The kernel for a GPU whose warps have `lanes` lanes. */
function gpu(
  op: Op<MatmulPoint>,
  backend: "cuda" | "hip",
  lanes: number,
): Kernel<MatmulPoint> {
  return defineLaunch(op, {
    name: "reference",
    backend,
    idea: "the definition, accumulated in double precision",
    source: new URL("./reference.cu", import.meta.url),
    entry: "reference",
    defines: ({ type }) => ({
      TYPE: type,
      ...(backend === "hip" ? { HIP: 1 } : {}),
    }),
    args(point, operands) {
      const { m, n, k, lda, ldb, layout } = point;
      const [stepK, stepN] = layout === "nn" ? [ldb, 1] : [1, ldb];
      return [
        mem(operands.A!),
        mem(operands.B!),
        operands.bias ? mem(operands.bias) : i64(0),
        mem(operands.C!),
        ...[m, n, k].map(i32),
        ...[lda, stepK, stepN].map(i64),
        i32(hasRelu(point) ? 1 : 0),
      ];
    },
    shape: ({ m, n }) => ({
      grid: [Math.min(MOST_BLOCKS, Math.ceil(m * n / WARPS)), 1, 1],
      block: [lanes * WARPS, 1, 1],
    }),
  });
}

function cpu(op: Op<MatmulPoint>): Kernel<MatmulPoint> {
  return defineLaunch(op, {
    name: "reference",
    backend: "cpu",
    idea: "plain loops, f64 sums and output",
    source: new URL("./cpu/reference.c", import.meta.url),
    entry: "reference",
    args: (point, operands) => [
      mem(operands.A!),
      mem(operands.B!),
      biasArg(operands),
      mem(operands.C!),
      ...[point.m, point.n, point.k, point.lda, point.ldb].map(i32),
      typeArg(point),
      layoutArg(point),
      ...epilogueArgs(point),
    ],
  });
}

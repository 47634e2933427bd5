/**
 * The CUDA kernels of {@linkcode qmm}, simplest first.
 *
 * @module
 */

import type { Step } from "../../../bench/device/queue.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../../bench/model/kernel_spec.ts";
import { blasOf } from "../../common/blas.ts";
import { conversionBuild, denseBytes, dequantiseStep } from "../dequantise.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, weightShape } from "../point.ts";
import { qmmSplitK, qmmTile } from "./qmm.ts";
import { qmv } from "./qmv.ts";

/** The baseline of quantisation: the library on 16-bit weights. */
const cublas: Kernel<QmmPoint> = defineKernel(qmm, {
  name: "cublas",
  backend: "cuda",
  idea: "the library on 16-bit weights, decoded before the clock starts",
  builds: (point) => [conversionBuild("cuda", point)],
  prepare(context) {
    const [decode, multiply] = parts(context);
    return { setup: [decode], steps: [multiply] };
  },
});

/** Decodes all weights on the clock: it saves memory but no traffic. */
const dequantCublas: Kernel<QmmPoint> = defineKernel(qmm, {
  name: "dequant-cublas",
  backend: "cuda",
  idea: "all weights decoded to 16 bits, then the library, both on the clock",
  builds: (point) => [conversionBuild("cuda", point)],
  prepare: (context) => ({ steps: parts(context) }),
});

function parts(context: Context<QmmPoint, Values>): [Step, Step] {
  const { point, operands, device, alloc } = context;
  const blas = blasOf(device);
  const { m, n, k, type, transposed } = point;
  const dense = alloc(denseBytes(point));
  return [
    dequantiseStep("cuda", { ...context, dense }),
    blas.gemm({
      m,
      n,
      k,
      a: { memory: operands.x!, type, ld: k },
      b: { memory: dense, type, ld: weightShape(point).cols, transposed },
      c: { memory: operands.y!, type, ld: n },
    }),
  ];
}

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<QmmPoint>[] = [
  cublas,
  dequantCublas,
  qmv,
  qmmTile,
  qmmSplitK,
];

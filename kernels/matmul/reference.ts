/**
 * A · B in double precision by plain kernels that write C as unpadded f64 `[M, N]`, where the host
 * would take too long.
 *
 * @module
 */

import { i64 } from "../../bench/device/queue.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { referenceKernels, type ReferenceSpec } from "../common/launch.ts";
import { hasBias, hasRelu, type MatmulPoint, TYPE_NUMBERS } from "./point.ts";

/** The kernel for GPUs: a warp, or a wave, for each element of C. */
function gpu(macros: { readonly HIP?: 1 }): ReferenceSpec<MatmulPoint> {
  return {
    source: new URL("./reference.cu", import.meta.url),
    defines: ({ type }) => ({ TYPE: type, ...macros }),
    args({ point, operands: { A, B, bias, C } }) {
      const { m, n, k, lda, ldb, layout } = point;
      const steps = layout === "nn" ? [ldb, 1] : [1, ldb];
      return [
        ...[A, B, bias, C, m, n, k],
        ...[lda, ...steps].map(i64),
        hasRelu(point),
      ];
    },
  };
}

/** The plain kernels of `op` for CUDA, HIP and the CPU. */
export function matmulReferences(
  op: Op<MatmulPoint>,
): readonly Kernel<MatmulPoint>[] {
  return referenceKernels(op, {
    cuda: gpu({}),
    hip: gpu({ HIP: 1 }),
    cpu: {
      source: new URL("./cpu/plain.c", import.meta.url),
      args({ point, operands: { A, B, bias, C } }) {
        const { m, n, k, lda, ldb, type, layout } = point;
        return [
          ...[A, B, bias ?? C, C, m, n, k, lda, ldb, TYPE_NUMBERS[type]],
          ...[layout === "nt", hasBias(point), hasRelu(point)],
        ];
      },
    },
  });
}

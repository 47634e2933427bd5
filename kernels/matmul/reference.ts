/**
 * A · B in double precision: on the host in blocks of K that stay in a cache, and, where the host
 * would take too long, by plain kernels that write C as unpadded f64 `[M, N]`.
 *
 * @module
 */

import { i64 } from "../../bench/device/queue.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { referenceKernels, type ReferenceSpec } from "../common/launch.ts";
import { hasBias, hasRelu, type MatmulPoint, TYPE_NUMBERS } from "./point.ts";

/** Shapes, layout and leading dimensions of a product. */
interface ProductShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly layout: "nn" | "nt";
  readonly lda: number;
  readonly ldb: number;
}

/** Rows of B that stay in a cache of 1 MiB while all rows of A go by. */
const CACHED = 1 << 17;

/** The m × n sums over k in [`from`, `to`), unpadded. */
export function product(
  { m, n, k, layout, lda, ldb }: ProductShape,
  a: Float64Array,
  b: Float64Array,
  from = 0,
  to = k,
): Float64Array<ArrayBuffer> {
  const sums = new Float64Array(m * n);
  const block = Math.max(1, Math.floor(CACHED / n));
  for (let start = from; start < to; start += block) {
    const end = Math.min(to, start + block);
    for (let i = 0; i < m; i++) {
      if (layout === "nn") {
        for (let p = start; p < end; p++) {
          const x = a[i * lda + p]!;
          for (let j = 0; j < n; j++) sums[i * n + j]! += x * b[p * ldb + j]!;
        }
      } else {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let p = start; p < end; p++) {
            sum += a[i * lda + p]! * b[j * ldb + p]!;
          }
          sums[i * n + j]! += sum;
        }
      }
    }
  }
  return sums;
}

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

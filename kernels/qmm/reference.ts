/**
 * x · Wᵀ or x · W in double precision: on the host, a row of the stored weights at a time, and,
 * where the host would take too long, by plain kernels that write y as f64 `[M, N]`.
 *
 * @module
 */

import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { referenceKernels } from "../common/launch.ts";
import { product, rowsMatrix, storedMatrix } from "../common/product.ts";
import {
  formatArgs,
  type QmmPoint,
  weightMemory,
  weightShape,
} from "./point.ts";

/** The sums over k in [`from`, `to`) of stored `x` and the stored rows of the weights. */
export function productOf(
  point: QmmPoint,
  x: Uint8Array<ArrayBuffer>,
  row: (index: number) => ArrayLike<number>,
  [from, to]: readonly [number, number] = [0, point.k],
): Float64Array<ArrayBuffer> {
  const { m, n, k, type, transposed } = point;
  return product(
    { m, n, k, layout: transposed ? "nt" : "nn" },
    storedMatrix(x, type, k),
    rowsMatrix(weightShape(point).cols, row),
    [from, to],
  );
}

/** The plain kernels of `op` for CUDA and the CPU. */
export function qmmReferences(op: Op<QmmPoint>): readonly Kernel<QmmPoint>[] {
  const args = (point: QmmPoint, operands: Operands) => [
    ...[operands.x, ...weightMemory(operands), operands.y],
    ...[point.m, point.n, point.k, ...formatArgs(point), point.transposed],
  ];
  return referenceKernels(op, {
    cuda: {
      source: new URL("./cuda/reference.cu", import.meta.url),
      defines: ({ type }) => ({ TYPE: type }),
      args: ({ point, operands }) => args(point, operands),
    },
    cpu: {
      source: new URL("./cpu/plain.c", import.meta.url),
      args: ({ point, operands, device }) => [
        ...args(point, operands),
        device.info.units,
      ],
    },
  });
}

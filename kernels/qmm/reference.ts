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
import {
  formatArgs,
  type QmmPoint,
  weightMemory,
  weightShape,
} from "./point.ts";

/** The factors of a product. */
interface Factors {
  /** `m × k` activations. */
  readonly x: Float64Array;
  /** A row of the stored weights. */
  readonly row: (index: number) => ArrayLike<number>;
}

/** The m × n sums over k in [`from`, `to`). */
export function product(
  point: QmmPoint,
  { x, row }: Factors,
  [from, to]: readonly [number, number] = [0, point.k],
): Float64Array<ArrayBuffer> {
  const { m, n, k, transposed } = point;
  const sums = new Float64Array(m * n);
  if (transposed) {
    for (let j = 0; j < weightShape(point).rows; j++) {
      const w = row(j);
      for (let i = 0; i < m; i++) {
        let sum = 0;
        for (let p = from; p < to; p++) sum += x[i * k + p]! * w[p]!;
        sums[i * n + j] = sum;
      }
    }
    return sums;
  }
  for (let p = from; p < to; p++) {
    const w = row(p);
    for (let i = 0; i < m; i++) {
      const factor = x[i * k + p]!;
      for (let j = 0; j < n; j++) sums[i * n + j]! += factor * w[j]!;
    }
  }
  return sums;
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

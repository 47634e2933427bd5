/**
 * The registry of operations: each with its kernels.
 *
 * @module
 */

import type { Kernel } from "../bench/model/kernel_spec.ts";
import type { Op } from "../bench/model/op.ts";
import { groupedMatmul, kernels as groupedKernels } from "./grouped/mod.ts";
import { kernels as matmulKernels, matmul } from "./matmul/mod.ts";
import { kernels as qmmKernels, qmm } from "./qmm/mod.ts";

/** An operation and all its kernels. */
export interface RegisteredOp<P = unknown> {
  readonly op: Op<P>;
  readonly kernels: readonly Kernel<P>[];
}

/** Every operation. */
export const ops: readonly RegisteredOp[] = [
  { op: matmul, kernels: matmulKernels },
  { op: qmm, kernels: qmmKernels },
  { op: groupedMatmul, kernels: groupedKernels },
];

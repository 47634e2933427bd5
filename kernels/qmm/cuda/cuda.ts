/**
 * The CUDA kernels of {@linkcode qmm}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { qmmSplitK, qmmTile } from "./qmm.ts";
import { qmv } from "./qmv.ts";
import { cublas, dequantCublas } from "./library.ts";
import type { QmmPoint } from "../point.ts";

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<QmmPoint>[] = [
  cublas,
  dequantCublas,
  qmv,
  qmmTile,
  qmmSplitK,
];

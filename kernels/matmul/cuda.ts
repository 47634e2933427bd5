/**
 * The CUDA kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../bench/kernel.ts";
import { splitTwins, tileTwins } from "./decompose.ts";
import { bmmSum, cublas, cublaslt } from "./library.ts";
import type { MatmulPoint } from "./op.ts";

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<MatmulPoint>[] = [
  cublas,
  cublaslt,
  bmmSum,
  ...tileTwins,
  ...splitTwins,
];

/**
 * The CUDA kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../bench/kernel.ts";
import { clusterK, clusterKSwapped, exchangeK, gridK } from "./cluster.ts";
import { splitTwins, tileTwins } from "./decompose.ts";
import { dot } from "./dot.ts";
import { bmmSum, cublas, cublaslt, cublasltTuned } from "./library.ts";
import type { MatmulPoint } from "./op.ts";
import { decomposeKPdl } from "./pdl.ts";

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<MatmulPoint>[] = [
  cublas,
  cublaslt,
  cublasltTuned,
  bmmSum,
  ...tileTwins,
  ...splitTwins,
  decomposeKPdl,
  gridK,
  exchangeK,
  clusterK,
  clusterKSwapped,
  dot,
];

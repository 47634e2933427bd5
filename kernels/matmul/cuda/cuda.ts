/**
 * The CUDA kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import {
  clusterK,
  clusterKSwapped,
  exchangeK,
  gridK,
  wgmmaK,
} from "./cluster/cluster.ts";
import { cudaLibraries } from "./library.ts";
import { splitKernels, tileKernels } from "./decompose.ts";
import { dot } from "./dot.ts";
import type { MatmulPoint } from "../point.ts";
import { decomposeKPdl } from "./pdl.ts";

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<MatmulPoint>[] = [
  cudaLibraries.plain,
  cudaLibraries.fused,
  cudaLibraries.tuned,
  cudaLibraries.bmmSum,
  ...tileKernels,
  ...splitKernels,
  decomposeKPdl,
  gridK,
  exchangeK,
  clusterK,
  clusterKSwapped,
  wgmmaK,
  dot,
];

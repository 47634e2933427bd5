/**
 * The CUDA kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { libraryKernels } from "../library.ts";
import type { MatmulPoint } from "../point.ts";
import {
  clusterK,
  clusterKSwapped,
  exchangeK,
  gridK,
  wgmmaK,
} from "./cluster/cluster.ts";
import { cudaDecompose, decomposeK } from "./decompose_k.ts";
import { dot } from "./dot.ts";

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<MatmulPoint>[] = [
  ...libraryKernels(cudaDecompose, {
    plain: "cublas",
    name: "cublaslt",
    title: "cuBLASLt",
    // As PyTorch gives it on Hopper.
    workspaceBytes: 32 << 20,
    searched: "algorithms and splits",
  }),
  ...decomposeK,
  gridK,
  exchangeK,
  clusterK,
  clusterKSwapped,
  wgmmaK,
  dot,
];

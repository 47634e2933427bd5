/**
 * The CUDA kernels of {@linkcode matmul} that call NVIDIA's libraries.
 *
 * @module
 */

import { type LibraryKernels, libraryKernels } from "../library.ts";
import { builds, epilogueStep, sumSplitStep } from "./steps.ts";

/** `cublas`, `cublaslt`, `cublaslt-tuned` and `bmm-sum`. */
export const cudaLibraries: LibraryKernels = libraryKernels({
  backend: "cuda",
  plain: "cublas",
  fused: "cublaslt",
  fusedTitle: "cuBLASLt",
  // As PyTorch gives it on Hopper.
  workspaceBytes: 32 << 20,
  searched: "algorithms and splits",
  builds,
  epilogueStep,
  sumSplitStep,
});

/**
 * The HIP kernels of {@linkcode matmul} that call AMD's libraries.
 *
 * @module
 */

import { hipBuilds, hipEpilogueStep, hipSumSplitStep } from "./steps.ts";
import { type LibraryKernels, libraryKernels } from "../library.ts";

/** `hipblas`, `hipblaslt`, `hipblaslt-tuned` and `bmm-sum`. */
export const hipLibraries: LibraryKernels = libraryKernels({
  backend: "hip",
  plain: "hipblas",
  fused: "hipblaslt",
  fusedTitle: "hipBLASLt",
  // As PyTorch gives it on gfx94x.
  workspaceBytes: 76 << 20,
  searched: "solutions",
  builds: hipBuilds,
  epilogueStep: hipEpilogueStep,
  sumSplitStep: hipSumSplitStep,
});

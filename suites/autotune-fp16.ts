/**
 * Linear layers of language models at many batch sizes, fp16: where a library's heuristic is
 * held against a search of its algorithms.
 *
 * Layers and batch sizes are those of the autotuning study. Weights are stored as a linear layer
 * has them, [N, K], which is the layout `nt`. The first baseline is the library's own choice.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, linearKernels, matmul } from "../kernels/matmul/mod.ts";
import { COMPETITION } from "./autotune.ts";

export default defineSuite({
  name: "autotune-fp16",
  title: "Linear layers [M, K] · [N, K]ᵀ in fp16",
  op: matmul,
  ...COMPETITION,
  fixed: { type: "f16", epilogue: "none", layout: "nt" },
  kernels: linearKernels,
  baselines: ["cublaslt", "hipblaslt", ...baselines],
});

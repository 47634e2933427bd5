/**
 * Linear layers of language models at many batch sizes, fp16: where a library's heuristic is
 * held against a search of its algorithms.
 *
 * Layers and batch sizes are those of the autotuning study: 4096 to 4096, 4096 to 11008 and
 * 8192 to 1024, for 1 to 512 rows and the odd 17. Weights are stored as a linear layer has
 * them, [N, K], which is the layout `nt`. The first baseline is the library's own choice.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, linearKernels, matmul } from "../kernels/matmul/mod.ts";

export default defineSuite({
  name: "autotune-fp16",
  title: "Linear layers [M, K] · [N, K]ᵀ in fp16",
  op: matmul,
  axes: {
    weights: [
      { n: 4096, k: 4096 },
      { n: 11008, k: 4096 },
      { n: 1024, k: 8192 },
    ],
    layout: ["nt"],
    m: [1, 2, 4, 8, 16, 17, 32, 64, 128, 256, 512],
  },
  fixed: { type: "f16", epilogue: "none" },
  quick: { weights: [{ n: 1024, k: 8192 }], m: [1, 17] },
  kernels: linearKernels,
  baselines: ["cublaslt", "hipblaslt", ...baselines],
});

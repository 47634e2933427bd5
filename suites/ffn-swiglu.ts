/**
 * The gate and up projections of FFNs, with silu(gate) * up, for 1 to 64 tokens.
 *
 * Sizes [N, K] of either weight are those of `config.json`: meta-llama/Llama-3.1-8B (hidden size
 * 4096, FFN 14336) on one GPU; Llama-3.1-70B (8192, 28672) and Llama-3.1-405B (16384, 53248) over
 * eight; Qwen/Qwen3-32B (5120, 25600) over four; deepseek-ai/DeepSeek-V3 (7168): the dense FFN
 * (18432) over eight, and the shared expert (2048) on one; zai-org/GLM-5 (6144, 12288) over four.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, kernels, swiglu } from "../kernels/swiglu/mod.ts";

export default defineSuite({
  name: "ffn-swiglu",
  title: "silu(X · W1ᵀ) * (X · W2ᵀ) in bf16 and fp16, FFNs of models",
  op: swiglu,
  axes: {
    type: ["bf16", "f16"],
    weights: [
      { n: 14336, k: 4096 },
      { n: 28672 / 8, k: 8192 },
      { n: 53248 / 8, k: 16384 },
      { n: 25600 / 4, k: 5120 },
      { n: 18432 / 8, k: 7168 },
      { n: 2048, k: 7168 },
      { n: 12288 / 4, k: 6144 },
    ],
    m: [1, 2, 4, 8, 16, 32, 64],
  },
  quick: {
    weights: [{ n: 28672 / 8, k: 8192 }, { n: 2048, k: 7168 }],
    m: [1, 16, 64],
  },
  kernels,
  baselines,
});

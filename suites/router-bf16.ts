/**
 * The router of a mixture of experts: a few tokens, 256 experts, a hidden size of 7168, bf16.
 *
 * Sizes are those of DeepSeek-V3's router; 1, 16, 64, 256 and 768 tokens are those of the
 * decompose-k study. A linear layer stores its weights as [256, 7168], an expert a row, which is
 * the layout `nt`; the study writes [T, 7168] · [7168, 256], the layout `nn`.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, linearKernels, matmul } from "../kernels/matmul/mod.ts";

export default defineSuite({
  name: "router-bf16",
  title: "Router of 256 experts, [T, 7168] · [7168, 256] in bf16",
  op: matmul,
  axes: {
    weights: [{ n: 256, k: 7168 }],
    layout: ["nt", "nn"],
    m: [1, 2, 4, 8, 16, 32, 64, 128, 256, 768],
  },
  fixed: { type: "bf16", epilogue: "none" },
  quick: { m: [1, 16] },
  kernels: linearKernels,
  baselines,
});

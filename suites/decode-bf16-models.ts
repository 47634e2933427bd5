/**
 * Linear layers of two models for 1 to 128 tokens, bf16: AMD's 48 further shapes.
 *
 * GPT-OSS's projections have a bias, the one of DeepSeek-V3 has none. The article prints the
 * sizes of N and of K apart; these are the pairs of AITER's tuned tables that fit them. Weights
 * are stored [N, K], the layout `nt`.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { decodeKernels, libraries, matmul } from "../kernels/matmul/mod.ts";

export default defineSuite({
  name: "decode-bf16-models",
  title: "Decode [M, K] · [N, K]ᵀ + bias in bf16, layers of models",
  op: matmul,
  axes: {
    layout: ["nt"],
    weights: [
      { n: 128, k: 2880, epilogue: "bias" },
      { n: 640, k: 2880, epilogue: "bias" },
      { n: 5120, k: 2880, epilogue: "bias" },
      { n: 2880, k: 2048, epilogue: "bias" },
      { n: 2880, k: 4096, epilogue: "bias" },
      { n: 2112, k: 7168, epilogue: "none" },
    ],
    m: [1, 2, 4, 8, 16, 32, 64, 128],
  },
  fixed: { type: "bf16" },
  quick: {
    weights: [
      { n: 640, k: 2880, epilogue: "bias" },
      { n: 2112, k: 7168, epilogue: "none" },
    ],
    m: [1, 4, 16],
  },
  kernels: decodeKernels,
  baselines: libraries,
});

/**
 * Linear layers for 1 to 128 tokens, bf16: AMD's grid of decode products of K = 7168, and its 48
 * further shapes. Weights are stored [N, K], the layout `nt`.
 *
 * Sizes are those of its article on low-latency GEMMs (FlyDSL's split-K in AITER). It prints the
 * sizes of N and of K apart, and those of the grid in figures alone: its four N are of the widths
 * that AITER's tuned tables have at K = 7168, and the pairs of the others those of the same tables
 * that fit. GPT-OSS's projections have a bias, the one of DeepSeek-V3 has none.
 *
 * @module
 */

import { defineSuite, type Suite } from "../bench/model/suite.ts";
import { decodeKernels, libraries, matmul } from "../kernels/matmul/mod.ts";

const decode = {
  op: matmul,
  kernels: decodeKernels,
  baselines: libraries,
} as const;
const m = [1, 2, 4, 8, 16, 32, 64, 128];

const suites: readonly Suite[] = [
  defineSuite({
    ...decode,
    name: "decode-bf16-k7168",
    title: "Decode [M, 7168] · [N, 7168]ᵀ in bf16",
    axes: { layout: ["nt"], n: [256, 512, 1024, 2112], k: [7168], m },
    fixed: { type: "bf16", epilogue: "none" },
    quick: { n: [256, 512], m: [1, 4, 16] },
  }),
  defineSuite({
    ...decode,
    name: "decode-bf16-models",
    title: "Decode [M, K] · [N, K]ᵀ + bias in bf16, layers of models",
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
      m,
    },
    fixed: { type: "bf16" },
    quick: {
      weights: [
        { n: 640, k: 2880, epilogue: "bias" },
        { n: 2112, k: 7168, epilogue: "none" },
      ],
      m: [1, 4, 16],
    },
  }),
];

export default suites;

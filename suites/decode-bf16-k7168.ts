/**
 * Linear layers of K = 7168 for 1 to 128 tokens, bf16: AMD's grid of decode products.
 *
 * Sizes are those of its article on low-latency GEMMs (FlyDSL's split-K in AITER): M in powers
 * of two and 32 shapes, so four of N. Which N they are stands in its figures alone and is not
 * printed; these are of the widths that AITER's tuned tables have at K = 7168. Weights are
 * stored [N, K], the layout `nt`.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { decodeKernels, libraries, matmul } from "../kernels/matmul/mod.ts";

export default defineSuite({
  name: "decode-bf16-k7168",
  title: "Decode [M, 7168] · [N, 7168]ᵀ in bf16",
  op: matmul,
  axes: {
    layout: ["nt"],
    n: [256, 512, 1024, 2112],
    k: [7168],
    m: [1, 2, 4, 8, 16, 32, 64, 128],
  },
  fixed: { type: "bf16", epilogue: "none" },
  quick: { n: [256, 512], m: [1, 4, 16] },
  kernels: decodeKernels,
  baselines: libraries,
});

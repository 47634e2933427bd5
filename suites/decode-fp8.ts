/**
 * The decode products of decode-bf16-k7168 and decode-bf16-models in FP8, with each kind of
 * scale.
 *
 * The sizes are those of the two suites, without bias: FP8 layers of DeepSeek-V3 have none.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, kernels, scaledMatmul } from "../kernels/scaled/mod.ts";

export default defineSuite({
  name: "decode-fp8",
  title: "Decode [M, K] · [N, K]ᵀ in FP8 with scales",
  op: scaledMatmul,
  axes: {
    scale: ["tensor", "row", "block128"],
    weights: [
      { n: 256, k: 7168 },
      { n: 512, k: 7168 },
      { n: 1024, k: 7168 },
      { n: 2112, k: 7168 },
      { n: 128, k: 2880 },
      { n: 640, k: 2880 },
      { n: 5120, k: 2880 },
      { n: 2880, k: 2048 },
      { n: 2880, k: 4096 },
    ],
    m: [1, 2, 4, 8, 16, 32, 64, 128],
  },
  quick: { weights: [{ n: 256, k: 7168 }, { n: 640, k: 2880 }], m: [1, 4, 16] },
  kernels,
  baselines,
});

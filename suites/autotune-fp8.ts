/**
 * The layers and batch sizes of autotune-fp16 in FP8, with a scale for each tensor, for each row
 * of A and output channel of B, and for each block.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { kernels, scaledMatmul } from "../kernels/scaled/mod.ts";
import { COMPETITION } from "./autotune.ts";

export default defineSuite({
  name: "autotune-fp8",
  title: "Linear layers [M, K] · [N, K]ᵀ in FP8 with scales",
  op: scaledMatmul,
  axes: { scale: ["tensor", "row", "block128"], ...COMPETITION.axes },
  quick: COMPETITION.quick,
  kernels,
  baselines: ["cublaslt", "cublaslt-tuned", "naive"],
});

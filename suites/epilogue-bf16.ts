/**
 * relu(A · B) in bf16, fp32 accumulation: skinny square outputs of a long K,
 * at the shapes of the decompose-k measurements.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, matmul, skinnyKernels } from "../kernels/matmul/mod.ts";
import { skinny } from "./skinny.ts";

export default defineSuite({
  name: "epilogue-bf16",
  title: "relu(A · B) in bf16, fp32 accumulation",
  op: matmul,
  ...skinny,
  fixed: { type: "bf16", epilogue: "relu" },
  kernels: skinnyKernels,
  baselines,
});

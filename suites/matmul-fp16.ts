/**
 * A · B in fp16, fp32 accumulation: skinny square outputs of a long K,
 * at the shapes of the decompose-k measurements.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, matmul, plainKernels } from "../kernels/matmul/mod.ts";
import { skinny } from "./skinny.ts";

export default defineSuite({
  name: "matmul-fp16",
  title: "A · B in fp16, fp32 accumulation",
  op: matmul,
  ...skinny,
  fixed: { type: "f16", epilogue: "none" },
  kernels: plainKernels,
  baselines,
});

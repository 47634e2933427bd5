/**
 * A · B in IEEE fp32: skinny square outputs of a long K,
 * at the shapes of the decompose-k measurements.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, matmul, plainKernels } from "../kernels/matmul/mod.ts";
import { skinny } from "./skinny.ts";

export default defineSuite({
  name: "matmul-fp32",
  title: "A · B in IEEE fp32",
  op: matmul,
  ...skinny,
  fixed: { type: "f32", epilogue: "none" },
  kernels: plainKernels,
  baselines,
});

/**
 * A · B in bf16, fp32 accumulation: skinny square outputs of a long K,
 * at the shapes of the decompose-k measurements.
 *
 * @module
 */

import { defineSuite, type Suite } from "../bench/model/suite.ts";
import { baselines, matmul, plainKernels } from "../kernels/matmul/mod.ts";

/** The suite. */
const suite: Suite = defineSuite({
  name: "matmul-bf16",
  title: "A · B in bf16, fp32 accumulation",
  op: matmul,
  axes: {
    layout: ["nn"],
    m: [16, 32, 48, 64],
    k: [8192, 12288, 16384, 20480, 24576, 28672, 32768],
  },
  tie: { n: "m" },
  fixed: { type: "bf16", epilogue: "none" },
  quick: { m: [16, 64], k: [8192, 16384] },
  kernels: plainKernels,
  baselines,
});

export default suite;

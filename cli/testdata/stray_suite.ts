/** A user's suite with a kernel for a backend that there is not. */

import { defineKernel, defineSuite, matmul } from "mnkbench";

export default defineSuite({
  name: "stray",
  title: "a backend that there is not",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [defineKernel(matmul, {
    name: "elsewhere",
    backend: "tpu",
    idea: "runs nowhere",
    prepare: () => ({ steps: [] }),
  })],
  baselines: [],
});

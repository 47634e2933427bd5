/** A user's suite: the simplest kernel of the house, a wrong one, one that never runs. */

import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";

const zeros = defineKernel(matmul, {
  name: "zeros",
  backend: "cpu",
  idea: "wrong everywhere",
  prepare: ({ operands }) => ({
    steps: [{
      label: "zeros",
      capturable: false,
      enqueue: () => operands.C!.fill(0),
    }],
  }),
});

const picky = defineKernel(matmul, {
  name: "picky",
  backend: "cpu",
  idea: "runs nowhere",
  unsupported: () => "It was made for another machine",
  prepare: () => ({ steps: [] }),
});

export default defineSuite({
  name: "small",
  title: "a small product",
  op: matmul,
  axes: { m: [2, 4], k: [8, 32] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  quick: { m: [2], k: [8] },
  kernels: [...kernels.filter(({ name }) => name === "naive"), zeros, picky],
  baselines: ["naive"],
});

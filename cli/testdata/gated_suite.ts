/** A user's suite whose second kernel waits for a file named `open` in the folder it runs in. */

import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";

const naive = kernels.find(({ name }) => name === "naive")!;

const gated = defineKernel(matmul, {
  name: "gated",
  backend: "cpu",
  idea: "waits for a file",
  prepare(context) {
    const word = new Int32Array(new SharedArrayBuffer(4));
    while (![...Deno.readDirSync(".")].some(({ name }) => name === "open")) {
      Atomics.wait(word, 0, 0, 20);
    }
    return naive.prepare(context);
  },
});

export default defineSuite({
  name: "gated",
  title: "a small product, and a wait",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [naive, gated],
  baselines: ["naive"],
});

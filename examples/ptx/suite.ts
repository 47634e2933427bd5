/**
 * Compares `matmul.ptx`, which `nvcc -ptx -arch=compute_80` made, with cuBLAS. A `.cubin` stands
 * in the same place.
 */

import { defineLaunch, defineSuite, i32, kernels, matmul, mem } from "mnkbench";

const given = defineLaunch(matmul, {
  name: "given",
  backend: "cuda",
  source: new URL("./matmul.ptx", import.meta.url),
  entry: "matmul",
  shape: ({ m, n }) => ({
    grid: [Math.ceil(n / 16), Math.ceil(m / 16), 1],
    block: [16, 16, 1],
  }),
  args: ({ m, n, k }, { A, B, C }) => [
    ...[A, B, C].map((matrix) => mem(matrix!)),
    ...[m, n, k].map(i32),
  ],
});

export default defineSuite({
  name: "example-ptx",
  title: "A · B in fp32, from PTX",
  op: matmul,
  axes: { m: [64, 512] },
  tie: { n: "m", k: "m" },
  fixed: { type: "f32", epilogue: "none" },
  kernels: [...kernels, given],
  baselines: ["cublas", "openblas", "naive"],
});

/**
 * Compares `tiled.cu` with cuBLAS and the built-in kernels: `mnkbench bench --suite ./suite.ts`.
 * Without a GPU `check --device emulator:sm_90a --m 19 --k 64` runs it at one small shape.
 */

import { defineLaunch, defineSuite, kernels, matmul } from "mnkbench";

const tiled = defineLaunch(matmul, {
  name: "tiled",
  backend: "cuda",
  idea: "16 x 16 tiles in shared memory",
  source: new URL("./tiled.cu", import.meta.url),
  entry: "tiled",
  shape: ({ m, n }) => ({
    grid: [Math.ceil(n / 16), Math.ceil(m / 16), 1],
    block: [16, 16, 1],
  }),
});

export default defineSuite({
  name: "example-cuda",
  title: "relu(A · B) in bf16",
  op: matmul,
  axes: { m: [16, 64], k: [8192, 32768] },
  tie: { n: "m" },
  fixed: { type: "bf16", epilogue: "relu" },
  kernels: [...kernels, tiled],
  baselines: ["cublas", "openblas", "naive"],
});

/**
 * Compares `rows.c` with OpenBLAS and the built-in CPU kernels:
 * `mnkbench bench --suite ./suite.ts --backend cpu`.
 */

import { defineLaunch, defineSuite, kernels, matmul } from "mnkbench";

// A CPU kernel needs no launch shape: the entry is called once and starts its own threads.
const rows = defineLaunch(matmul, {
  name: "rows",
  backend: "cpu",
  idea: "inner loop along rows of B",
  source: new URL("./rows.c", import.meta.url),
  entry: "rows",
});

export default defineSuite({
  name: "example-c",
  title: "A · B in fp32",
  op: matmul,
  axes: { m: [16, 64], k: [1024] },
  tie: { n: "m" },
  fixed: { type: "f32", epilogue: "none" },
  kernels: [...kernels, rows],
  baselines: ["openblas", "naive"],
});

/**
 * Searches the block sizes of `tiled.c`:
 * `mnkbench tune --suite ./suite.ts --kernel tiled --backend cpu`. `bench` then uses the
 * winners; `tune list` prints them.
 */

import { defineLaunch, defineSuite, kernels, matmul } from "mnkbench";

const tiled = defineLaunch(matmul, {
  name: "tiled",
  backend: "cpu",
  idea: "blocks of columns and K",
  source: new URL("./tiled.c", import.meta.url),
  entry: "tiled",
  tunables: { BN: [8, 16, 32, 64], BK: [64, 256] },
  rules: {
    // A rule returns why a config is illegal, or nothing. `tune --skips` prints the reasons.
    columns: ({ n }, { BN }) =>
      BN > 8 && BN >= 2 * n
        ? `BN = ${BN} is at least twice N = ${n}`
        : undefined,
  },
  // An estimate of the time in µs. Configs are tried in this order.
  predict: ({ m, n, k }, { BN, BK }) =>
    m * Math.ceil(n / BN) * (k + 20 * Math.ceil(k / BK)) * BN / 16000,
});

export default defineSuite({
  name: "example-tuning",
  title: "A · B in fp32",
  op: matmul,
  axes: { m: [16, 64], k: [1024] },
  tie: { n: "m" },
  fixed: { type: "f32", epilogue: "none" },
  kernels: [...kernels, tiled],
  baselines: ["openblas", "naive"],
});

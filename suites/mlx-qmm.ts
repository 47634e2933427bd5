/**
 * x · Wᵀ with W in four of MLX's formats, for the shapes of a decode step and M at and
 * around the edges of MLX's dispatch (ml-explore/mlx#3120).
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { baselines, kernels, qmm } from "../kernels/qmm/mod.ts";

const FORMATS = [
  { mode: "affine", bits: 4, group: 64 },
  { mode: "mxfp4", bits: 4, group: 32 },
  { mode: "mxfp8", bits: 8, group: 32 },
  { mode: "nvfp4", bits: 4, group: 16 },
];

export default defineSuite({
  name: "mlx-qmm",
  title: "x · Wᵀ with 4- and 8-bit weights, M around MLX's dispatch edges",
  op: qmm,
  axes: {
    weights: [
      { n: 2560, k: 2560 },
      { n: 4096, k: 4096 },
      { n: 8192, k: 8192 },
      { n: 2048, k: 8192 },
    ],
    format: FORMATS,
    m: [1, 2, 4, 8, 10, 12, 14, 16, 20, 31, 32, 33, 64, 96, 128, 2048],
  },
  fixed: { type: "bf16", layout: "nt" },
  quick: { weights: [{ n: 2560, k: 2560 }], m: [1, 12, 32] },
  kernels,
  baselines,
});

/**
 * x · Wᵀ and x · W with W in each of MLX's formats, and in 4 and 8 bits with a scale a channel, at
 * one shape.
 *
 * @module
 */

import { allFormats, CHANNEL } from "../bench/formats/quant_format.ts";
import { defineSuite } from "../bench/model/suite.ts";
import { baselines, kernels, qmm } from "../kernels/qmm/mod.ts";

const SHAPE = { n: 4096, k: 4096 };

const formats = [
  ...allFormats().map((format) => ({ ...format })),
  ...[4, 8].map((bits) => ({ mode: "affine", bits, group: CHANNEL })),
];

export default defineSuite({
  name: "mlx-qmm-formats",
  title: "x · Wᵀ and x · W with weights in each of MLX's formats",
  op: qmm,
  axes: {
    weights: [SHAPE],
    layout: ["nt", "nn"],
    format: formats,
    m: [1, 16],
  },
  fixed: { type: "f16" },
  quick: {
    layout: ["nt"],
    format: formats.filter(({ mode, group }) =>
      mode !== "affine" || group === 64
    ),
    m: [1],
  },
  kernels,
  baselines,
});

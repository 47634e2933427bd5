/**
 * x · Wᵀ and x · W with W in MLX's formats: four of them for the shapes of a decode step, with M at
 * and around the edges of MLX's dispatch (ml-explore/mlx#3120) and of a prefill, and each of them, and
 * 4 and 8 bits with a scale a channel, at one shape.
 *
 * @module
 */

import { allFormats, CHANNEL } from "../bench/formats/quant_format.ts";
import { defineSuite, type Suite } from "../bench/model/suite.ts";
import { baselines, kernels, qmm } from "../kernels/qmm/mod.ts";

const formats = [
  ...allFormats().map((format) => ({ ...format })),
  ...[4, 8].map((bits) => ({ mode: "affine", bits, group: CHANNEL })),
];

const DECODE = [1, 2, 4, 8, 10, 12, 14, 16, 20, 31, 32, 33, 64, 96, 128];
const PREFILL = [256, 512, 1024, 2048];

const suites: readonly Suite[] = [
  defineSuite({
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
      format: [
        { mode: "affine", bits: 4, group: 64 },
        { mode: "mxfp4", bits: 4, group: 32 },
        { mode: "mxfp8", bits: 8, group: 32 },
        { mode: "nvfp4", bits: 4, group: 16 },
      ],
      m: [...DECODE, ...PREFILL],
    },
    fixed: { type: "bf16", layout: "nt" },
    quick: { weights: [{ n: 2560, k: 2560 }], m: [1, 12, 32] },
    kernels,
    baselines,
  }),
  defineSuite({
    name: "mlx-qmm-formats",
    title: "x · Wᵀ and x · W with weights in each of MLX's formats",
    op: qmm,
    axes: {
      weights: [{ n: 4096, k: 4096 }],
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
  }),
];

export default suites;

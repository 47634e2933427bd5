/**
 * The built-in suites, in the order of listings, sweeps and tables.
 *
 * @module
 */

import type { Suite } from "../bench/model/suite.ts";
import autotuneFp16 from "./autotune-fp16.ts";
import decodeBf16K7168 from "./decode-bf16-k7168.ts";
import decodeBf16Models from "./decode-bf16-models.ts";
import decodeFp8 from "./decode-fp8.ts";
import epilogueBf16 from "./epilogue-bf16.ts";
import groupedNvfp4 from "./grouped-nvfp4.ts";
import matmulBf16 from "./matmul-bf16.ts";
import matmulFp16 from "./matmul-fp16.ts";
import matmulFp32 from "./matmul-fp32.ts";
import mlxQmmFormats from "./mlx-qmm-formats.ts";
import mlxQmm from "./mlx-qmm.ts";
import routerBf16 from "./router-bf16.ts";

/** The suites that are swept where none is named. */
export const usualSuites: readonly Suite[] = [
  epilogueBf16,
  matmulBf16,
  matmulFp16,
  matmulFp32,
];

/** Every suite of this folder. */
export const suites: readonly Suite[] = [
  ...usualSuites,
  routerBf16,
  autotuneFp16,
  decodeBf16K7168,
  decodeBf16Models,
  decodeFp8,
  mlxQmm,
  mlxQmmFormats,
  groupedNvfp4,
];

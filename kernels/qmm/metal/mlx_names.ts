/**
 * What MLX calls its kernels for quantised products on Metal.
 *
 * Source: ml-explore/mlx, `mlx/backend/metal/quantized.cpp` at 846d176 (2026-08-22).
 *
 * @module
 */

import type { QmmPoint } from "../point.ts";

/** The kernels that tile the output. */
export type MlxTiled = "qmm_t" | "qmm_n" | "qmm_t_splitk";
/** The kernels of which MLX has one for each type, group and width. */
export type MlxKernel = "qmv" | "qmv_fast" | "qvm" | "qvm_split_k" | MlxTiled;

const TYPE = { f16: "float16_t", bf16: "bfloat16_t" } as const;

/** Columns of a threadgroup's tile: `alN` says whether N is a multiple of it. */
const TILE = 32;

/**
 * The name of a kernel at `point`; of `qvm_split_k` with the slices that it is compiled for.
 *
 * @example
 * ```ts
 * import { mlxName } from "./mlx_names.ts";
 * import { readPoint } from "../point.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const point = readPoint({ m: 12, n: 2560, k: 2560, type: "f16" });
 * strictEqual(
 *   mlxName("qmm_t_splitk", point),
 *   "affine_qmm_t_splitk_float16_t_gs_64_b_4_alN_true",
 * );
 * ```
 */
export function mlxName(
  kernel: MlxKernel,
  { mode, type, group, bits, n }: Pick<
    QmmPoint,
    "mode" | "type" | "group" | "bits" | "n"
  >,
  split = 1,
): string {
  const start = `${mode}_${kernel}_${TYPE[type]}_gs_${group}_b_${bits}`;
  if (kernel === "qvm_split_k") return `${start}_spk_${split}`;
  const aligned = `${start}_alN_${n % TILE === 0}`;
  if (kernel === "qmm_t_splitk") return aligned;
  return `${kernel === "qmm_t" ? aligned : start}_batch_0`;
}

/**
 * Whether `qmv_fast` is taken: whole threadgroups of rows, and of every row whole steps of a
 * simdgroup, whose lanes have two packs of codes each, one of 2 bits.
 */
export function isFast(
  { n, k, bits }: Pick<QmmPoint, "n" | "k" | "bits">,
): boolean {
  const pack = bits === 3 || bits === 5 ? 8 : bits === 6 ? 4 : 32 / bits;
  const step = pack * (bits === 2 ? 1 : 2) * 32;
  return n % 8 === 0 && k % step === 0;
}

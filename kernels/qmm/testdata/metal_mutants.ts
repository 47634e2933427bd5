/**
 * Mutants of the Metal kernels of `qmm`.
 *
 * @module
 */

import type { Device } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { metalKernels } from "../metal/metal.ts";
import { mlxChoice, parseAppleGpu } from "../metal/mlx_dispatch.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, readPoint } from "../point.ts";

function mutantCase(
  name: string,
  [shape, config]: readonly [shape: Values, config: Values],
  mutants: readonly string[],
): MutantCase<QmmPoint> {
  const kernel = metalKernels.find((kernel) => kernel.name === name)!;
  const point = readPoint(shape);
  return { op: qmm, kernel, point, config, seeds: [1, 2, 3], mutants };
}

const OWN = { BM: 8, BN: 32, BK: 32, SM: 1, SN: 4, SPLIT: 3 };
/** K of seven groups, in slices of three, three and one. */
const TILED = { m: 6, n: 37, k: 224, bits: 4, group: 32, type: "f16" };
const TILED_NVFP4 = { m: 6, n: 37, k: 208, mode: "nvfp4", type: "bf16" };
const VECTOR = { m: 2, n: 13, k: 1056, bits: 5, group: 32, type: "bf16" };
/** x · W: columns of three simdgroups, K of no whole step. */
const FLAT = { m: 2, n: 96, k: 70, layout: "nn", bits: 5, group: 32 };

/** A GPU with matrix units, of which the emulated one is not told. */
const on = (device: Device): Device => ({
  ...device,
  info: { ...device.info, arch: "applegpu_g17d", driver: "macOS 26.2" },
});

/** Rows of one tile or two, columns that fill none, two steps of K. */
export const unitCases: readonly MutantCase<QmmPoint>[] = [32, 37].map((m) => ({
  ...mutantCase("mlx", [
    { m, n: 70, k: 128, group: 128, type: m === 32 ? "f16" : "bf16" },
    { kernel: "qmm_nax", split: 1 },
  ], [
    ...["metal_units_same_rows", "metal_units_same_columns"],
    "metal_units_no_column_guard",
  ]),
  on,
  seeds: [1],
}));

/** By what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<QmmPoint>>> = {
  "short last slice": mutantCase("qmm-splitk", [TILED, OWN], [
    ...["metal_qmm_early_product", "metal_qmm_early_refill"],
    ...["metal_qmm_no_last_slice", "metal_qmm_long_slice"],
    ...["metal_qmm_no_scale", "metal_qmm_same_scale", "metal_qmm_no_bias"],
    ...["metal_qmm_no_row_guard", "metal_slices_skip_first"],
  ]),
  "nvfp4 in tiles": mutantCase("qmm-splitk", [TILED_NVFP4, OWN], [
    ...["metal_qmm_no_column_guard", "metal_weight_no_sign"],
  ]),
  "qmm_n": mutantCase("qmm_n", [{ ...FLAT, m: 5, type: "bf16" }, {}], [
    ...["metal_qmm_wrong_ld", "metal_qmm_no_row_guard"],
  ]),
  "16-bit weights": mutantCase("mps", [TILED, {}], [
    "metal_dequantise_wrong_group",
  ]),
  "one scale a row": mutantCase("qmm-splitk", [
    { ...TILED, group: "channel" },
    OWN,
  ], ["metal_qmm_channel_groups"]),
  "matrix units": unitCases[0]!,
  "qmm_t": mutantCase("qmm_t", [TILED, {}], ["metal_qmm_no_scale"]),
  "qmm_t in slices": mutantCase("qmm_t_splitk", [
    { ...TILED, k: 1024 },
    { SPLIT: 2 },
  ], ["metal_slices_skip_first"]),
  "qmv": mutantCase("qmv", [VECTOR, {}], [
    ...["metal_qmv_no_bias", "metal_qmv_no_row_guard", "metal_qmv_skip_last"],
    "metal_weight_one_word",
  ]),
  "mxfp8 in rows": mutantCase("qmv", [
    { m: 1, n: 9, k: 288, mode: "mxfp8", type: "f16" },
    {},
  ], ["metal_weight_wrong_exponent"]),
  "what MLX takes": mutantCase("mlx", [VECTOR, {
    ...mlxChoice(readPoint(VECTOR), parseAppleGpu("applegpu_g15s")),
  }], ["metal_qmv_no_bias"]),
  "qvm": mutantCase("qvm", [{ ...FLAT, type: "bf16" }, {}], [
    ...["metal_qvm_no_column_guard", "metal_qvm_same_columns"],
    ...["metal_qvm_same_scale", "metal_qvm_no_bias", "metal_qvm_no_lane_sum"],
  ]),
  // A group of 16 columns for a simdgroup of 32 lanes.
  "nvfp4 in columns": mutantCase("qvm", [
    { m: 1, n: 48, k: 45, layout: "nn", mode: "nvfp4", type: "f16" },
    {},
  ], ["metal_qvm_all_lanes"]),
  // The last of eight slices is shorter.
  "qvm in slices": mutantCase("qvm_split_k", [
    { ...FLAT, n: 32, k: 1033, type: "bf16" },
    { SPLIT: 8 },
  ], ["metal_qvm_long_slice", "metal_qvm_same_slice"]),
};

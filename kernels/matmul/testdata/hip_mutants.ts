/**
 * Mutants of the HIP kernels of `matmul`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { hipKernels } from "../hip/hip.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import type { SplitkConfig } from "../hip/splitk/config.ts";

const RAGGED = { m: 30, n: 44, k: 600, epilogue: "bias+relu", type: "bf16" };
const WIDE = { BM: 32, BN: 32, BK: 64, WAVES: 4, SPLIT: 2 };
/** A small tile of the split-K kernels for gfx950, in two slices. */
export const SMALL_SPLITK: SplitkConfig = {
  TM: 16,
  TN: 64,
  TK: 64,
  STAGES: 4,
  SPLIT: 2,
  WAVES_M: 1,
  WAVES_N: 2,
  WAVES_K: 1,
  ASYNC: 1,
  B_TO_LDS: 1,
};

const named = (name: string) =>
  hipKernels.find((kernel) => kernel.name === name)!;

function tiled(
  name: string,
  config: Values,
  mutants: readonly string[],
  shape: Values = RAGGED,
): MutantCase<MatmulPoint> {
  const point = matmul.point(shape);
  const seeds = [1, 2, 3, 4];
  return { op: matmul, kernel: named(name), point, config, seeds, mutants };
}

/** A case at which nothing is rounded: the kernel is exact. */
function splitk(
  name: "splitk-lds" | "splitk-lds-atomic",
  config: SplitkConfig,
  mutants: readonly string[],
): MutantCase<MatmulPoint> {
  // Six steps a slice, which are more than the ring has places.
  const k = 6 * config.TK * config.SPLIT;
  return {
    op: matmul,
    kernel: named(name),
    config,
    mutants,
    point: matmul.point({
      m: 17,
      n: 128,
      k,
      layout: "nt",
      type: "f16",
      epilogue: name === "splitk-lds" ? "relu" : "bias",
    }),
    fill: "integers",
    seeds: [1, 2, 3, 4, 5, 6],
  };
}

/** By what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
  wide: tiled("decompose-k", WIDE, [
    ...["hip_no_first_barrier", "hip_no_step_barrier", "hip_same_place"],
    ...["hip_swapped_rows", "hip_swapped_chunks", "hip_half_product"],
    ...["hip_no_transpose", "hip_swapped_result", "hip_no_row_guard"],
    ...["hip_sum_no_barrier", "hip_sum_skip_slice"],
  ]),
  "columns apart": tiled("decompose-k", WIDE, [
    ...["hip_strided_flat", "hip_strided_wide_store"],
    ...["hip_strided_no_barrier", "hip_strided_skip_slice"],
  ], { ...RAGGED, stepc: 2 }),
  "waves share K": tiled("decompose-k", {
    ...WIDE,
    BM: 16,
    BN: 16,
    BK: 128,
  }, ["hip_no_reduce_barrier", "hip_skip_wave"]),
  unfused: tiled("decompose-k-unfused", WIDE, ["hip_no_first_barrier"]),
  tile: tiled("decompose-k-tile", WIDE, ["hip_no_step_barrier"]),
  "tile, unfused": tiled("decompose-k-tile-unfused", WIDE, ["hip_same_place"]),
  partials: splitk("splitk-lds", SMALL_SPLITK, [
    ...["splitk_late_wait", "splitk_no_last_wait", "splitk_no_copy_barrier"],
    ...["splitk_skip_step", "splitk_no_swizzle", "splitk_counter_not_reset"],
    ...["splitk_early_count", "splitk_no_count_barrier", "splitk_skip_split"],
    "splitk_no_row_guard",
  ]),
  "rows of half a tile": splitk("splitk-lds", { ...SMALL_SPLITK, TM: 32 }, [
    "splitk_no_clamp",
  ]),
  atomic: splitk("splitk-lds-atomic", SMALL_SPLITK, [
    ...["splitk_no_signal_wait", "splitk_no_signal_barrier"],
    "splitk_signal_not_reset",
  ]),
  "gfx950, 80 KiB of ring": {
    ...splitk("splitk-lds", { ...SMALL_SPLITK, TK: 128 }, [
      ...["hip_half_chunk", "hip_swapped_halves", "splitk_late_wait"],
      ...["splitk_no_last_wait", "splitk_no_copy_barrier", "splitk_skip_step"],
      ...["splitk_no_swizzle", "hip_swapped_rows", "hip_swapped_chunks"],
    ]),
    arch: "gfx950",
  },
  "gfx950, rows of half a tile": {
    ...splitk("splitk-lds-atomic", { ...SMALL_SPLITK, TM: 32, WAVES_K: 2 }, [
      ...["splitk_no_clamp", "splitk_no_signal_wait"],
    ]),
    arch: "gfx950",
  },
};

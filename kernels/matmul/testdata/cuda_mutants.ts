/**
 * Mutants of the CUDA kernels that write the sums of K slices and add them with a second kernel, and
 * of the one for a handful of rows.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/mutants.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";

/** Where the kernel `name` is right, and where `mutants` must be caught. */
export function mutantCase(
  name: string,
  [shape, config]: readonly [shape: Values, config: Values],
  mutants: readonly string[],
): MutantCase<MatmulPoint> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  const point = matmul.point({ type: "bf16", ...shape });
  return { op: matmul, kernel, point, config, seeds: [1, 2], mutants };
}

/** K slices whose rows start on 16 bytes, and others. */
export const WHOLE = { m: 30, n: 48, k: 768, epilogue: "bias+relu" } as const;
const RAGGED = { m: 30, n: 44, k: 604, epilogue: "bias+relu" };

const TILE = {
  ...{ BM: 32, BN: 32, BK: 64, GROUP_M: 8, WARPS: 2, STAGES: 3 },
  SPLIT: 2,
};

/** By what is special about the case. */
export const splitCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
  ring: mutantCase("decompose-k", [WHOLE, TILE], [
    ...["ring_no_wait", "ring_late_wait", "ring_no_barrier"],
    ...["ring_no_empty_group", "ring_wrong_stage", "ring_early_refill"],
    ...["ring_skip_stage", "tile_no_row_guard", "mma_no_swizzle"],
    ...["mma_swapped_k", "mma_same_columns", "mma_same_rows"],
    ...["sum_no_barrier", "sum_skip_slice", "sum_skip_lanes"],
    "partial_no_row_guard",
  ]),
  ragged: mutantCase("decompose-k", [{ ...RAGGED, layout: "nt" }, TILE], [
    "tile_no_column_guard",
  ]),
  "one stage": mutantCase("decompose-k", [WHOLE, { ...TILE, STAGES: 1 }], [
    "ring_early_refill",
  ]),
  "warps share K": mutantCase("decompose-k", [WHOLE, {
    ...TILE,
    ...{ BM: 16, BN: 16, BK: 128, WARPS: 4 },
  }], ["warp_reduce_no_barrier", "warp_reduce_skip_warp"]),
  fp32: mutantCase("decompose-k", [{ ...WHOLE, type: "f32" }, TILE], [
    ...["ffma_adjacent_rows", "ffma_same_k", "ffma_wrong_half"],
    "ffma_same_share",
  ]),
  unfused: mutantCase("decompose-k-unfused", [WHOLE, TILE], [
    "epilogue_no_bias",
  ]),
  pdl: mutantCase("decompose-k-pdl", [WHOLE, TILE], ["sum_no_launch_wait"]),
  tile: mutantCase("decompose-k-tile", [WHOLE, TILE], [
    "sum_tile_no_row_guard",
  ]),
  "tile, unfused": mutantCase("decompose-k-tile-unfused", [WHOLE, TILE], [
    ...["sum_tile_no_row_guard", "epilogue_no_bias"],
  ]),
  dot: mutantCase("dot", [{ ...WHOLE, m: 5, layout: "nt" }, {
    ...{ THREADS: 128, COLS: 4, UNROLL: 1, CLUSTER: 4 },
  }], [
    ...["dot_no_barrier", "dot_early_store", "dot_no_cluster_wait"],
    ...["dot_relaxed_arrive", "dot_skip_block", "dot_same_lanes"],
  ]),
  "dot, by columns": mutantCase("dot", [{ ...WHOLE, m: 3 }, {
    ...{ THREADS: 128, COLS: 32, UNROLL: 2, CLUSTER: 2 },
  }], ["dot_no_column_guard", "dot_long_share"]),
};

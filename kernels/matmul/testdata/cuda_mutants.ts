/**
 * Mutants of the CUDA kernels of `matmul`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";

/** A case at which the kernel `name` is right and `mutants` must be caught. */
function mutantCase(
  name: string,
  [shape, config]: readonly [shape: Values, config: Values],
  mutants: readonly string[],
): MutantCase<MatmulPoint> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  const point = matmul.point({ type: "bf16", ...shape });
  return { op: matmul, kernel, point, config, seeds: [1, 2], mutants };
}

/** K slices whose rows start on 16 bytes, and others. */
const WHOLE = { m: 30, n: 48, k: 768, epilogue: "bias+relu" } as const;
const RAGGED = { m: 30, n: 44, k: 604, epilogue: "bias+relu" };

const TILE = {
  BM: 32,
  BN: 32,
  BK: 64,
  GROUP_M: 8,
  WARPS: 2,
  STAGES: 3,
  SPLIT: 2,
};

/** Of the kernels that add the sums of K slices with a second launch, and of dot. */
const splitCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
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
    BM: 16,
    BN: 16,
    BK: 128,
    WARPS: 4,
  }], ["warp_reduce_no_barrier", "warp_reduce_skip_warp"]),
  fp32: mutantCase("decompose-k", [{ ...WHOLE, type: "f32" }, TILE], [
    ...["ffma_adjacent_rows", "ffma_same_k", "ffma_wrong_half"],
    "ffma_same_share",
  ]),
  "columns apart": mutantCase("decompose-k", [{ ...WHOLE, stepc: 2 }, TILE], [
    ...["strided_flat", "strided_wide_store", "strided_no_barrier"],
    "strided_skip_slice",
  ]),
  unfused: mutantCase("decompose-k-unfused", [WHOLE, TILE], [
    "epilogue_no_bias",
  ]),
  pdl: mutantCase("decompose-k-pdl", [WHOLE, TILE], [
    ...["sum_no_launch_wait", "partial_no_launch_wait"],
  ]),
  tile: mutantCase("decompose-k-tile", [WHOLE, TILE], [
    "sum_tile_no_row_guard",
  ]),
  "tile, unfused": mutantCase("decompose-k-tile-unfused", [WHOLE, TILE], [
    ...["sum_tile_no_row_guard", "epilogue_no_bias"],
  ]),
  dot: mutantCase("dot", [{ ...WHOLE, m: 5, layout: "nt" }, {
    THREADS: 128,
    COLS: 4,
    UNROLL: 1,
    CLUSTER: 4,
  }], [
    ...["dot_no_barrier", "dot_early_store", "dot_no_cluster_wait"],
    ...["dot_relaxed_arrive", "dot_skip_block", "dot_same_lanes"],
    "dot_no_launch_wait",
  ]),
  "dot, by columns": mutantCase("dot", [{ ...WHOLE, m: 3 }, {
    THREADS: 128,
    COLS: 32,
    UNROLL: 2,
    CLUSTER: 2,
  }], ["dot_no_column_guard", "dot_long_share"]),
};

const RING = {
  LOAD: "ring",
  BM: 32,
  BN: 32,
  BK: 64,
  WARPS: 4,
  KWARPS: 1,
  STAGES: 2,
};
const CLUSTER = { ...RING, CLUSTER: 4, PARTS: 1 };
const GRID = { ...RING, CLUSTER: 1, PARTS: 4 };
const TENSOR = {
  LOAD: "tensor",
  BM: 64,
  BN: 48,
  BK: 128,
  KWARPS: 1,
  CLUSTER: 2,
  PARTS: 1,
};
const NT = { ...WHOLE, layout: "nt" };

/** Of the kernels that add the sums of K slices in the same launch. */
const clusterCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
  cluster: mutantCase("cluster-k", [WHOLE, CLUSTER], [
    ...["cluster_few_bytes", "cluster_many_bytes", "cluster_wrong_parity"],
    ...["cluster_early_send", "cluster_no_arrive", "cluster_no_fence"],
    ...["cluster_wrong_owner", "cluster_same_place", "cluster_no_receive"],
    "cluster_no_row_guard",
  ]),
  "a ring for each warp": mutantCase("cluster-k", [
    { ...WHOLE, m: 14, n: 16, k: 3072 },
    {
      ...CLUSTER,
      LOAD: "warps",
      BM: 16,
      BN: 16,
      BK: 512,
      KWARPS: 4,
      CLUSTER: 2,
    },
  ], [
    ...["ring_shared", "ring_same_k", "ring_no_warp_barrier"],
    ...["ring_early_sums", "mma_lost_sums"],
    "ring_no_launch_wait",
  ]),
  "tiles of eight rows": mutantCase("cluster-k", [
    { ...WHOLE, m: 14, n: 16, k: 3072 },
    {
      ...CLUSTER,
      LOAD: "warps",
      BM: 8,
      BN: 16,
      BK: 512,
      KWARPS: 4,
      CLUSTER: 2,
    },
  ], ["mma8_swapped_steps", "mma8_lost_sums"]),
  exchange: mutantCase("exchange-k", [WHOLE, GRID], [
    ...["exchange_no_poll", "exchange_not_emptied", "exchange_same_place"],
  ]),
  // Parts so many and so long that the grid counts tiles before them.
  "tiles before slices": mutantCase("exchange-k", [
    { ...WHOLE, m: 14, n: 17, k: 12 * 1536 },
    { ...GRID, BM: 16, BN: 16, BK: 256, PARTS: 12 },
  ], ["tiles_swapped"]),
  // Few units: threads in groups read the parts in turns.
  groups: mutantCase("exchange-k", [
    { ...WHOLE, m: 14, n: 16 },
    { ...GRID, BM: 16, BN: 16, STAGES: 1, PARTS: 12 },
  ], [
    ...["exchange_no_barrier", "exchange_skip_group", "exchange_skip_lanes"],
  ]),
  warpgroups: mutantCase("wgmma-k", [
    { ...NT, m: 100, n: 88 },
    { ...TENSOR, BM: 128, WARPS: 8, STAGES: 2 },
  ], [
    ...["wgmma_no_fence", "wgmma_late_wait", "wgmma_same_rows"],
    ...["wgmma_same_box", "wgmma_same_k"],
  ]),
  "warpgroups with the same rows": mutantCase("wgmma-k", [
    { ...NT, n: 88 },
    { ...TENSOR, BN: 96, WARPS: 8, STAGES: 2 },
  ], ["wgmma_same_columns"]),
  // A cluster has two tiles, of which one does not exist.
  "tensor maps": mutantCase("wgmma-k", [
    { ...NT, m: 130, n: 88, k: 1200 },
    { ...TENSOR, WARPS: 4, STAGES: 2, TILES_M: 2, TILES_N: 1 },
  ], [
    ...["tma_no_wait", "tma_same_full_phase", "tma_same_empty_phase"],
    ...["tma_early_refill", "tma_one_warp", "tma_early_release"],
    ...["tma_late_wait", "tma_no_finish"],
    ...["tma_no_fence", "tma_few_bytes", "tma_same_box"],
    ...["tma_same_place", "wgmma_wrong_half", "tiles_wrong_tile"],
    ...["tiles_wrong_slice", "cluster_first_tile", "tma_same_part"],
    ...["tma_one_sharer", "tma_no_cluster_barrier", "slots_skip_block"],
  ]),
  "tensor maps of two warpgroups": mutantCase("wgmma-k", [
    { ...NT, m: 70, n: 90, k: 2400 },
    { ...TENSOR, WARPS: 8, STAGES: 3, TILES_M: 1, TILES_N: 2 },
  ], ["tma_one_warpgroup"]),
  // A thread has nine slots, three for each block.
  "tensor maps of three slices": mutantCase("wgmma-k", [
    { ...NT, n: 70, k: 1000 },
    { ...TENSOR, BN: 72, WARPS: 4, STAGES: 2, CLUSTER: 3 },
  ], ["slots_same_place", "slots_wrong_sender"]),
  "tensor maps, a tile": mutantCase("wgmma-k", [
    { ...NT, n: 40 },
    { ...TENSOR, BN: 40, WARPS: 4, STAGES: 2 },
  ], ["tma_no_barrier", "tma_no_proxy_fence", "tma_no_launch_wait"]),
  "warpgroups, B by rows": mutantCase("wgmma-k", [
    { ...WHOLE, m: 130, n: 200, k: 1200 },
    { ...TENSOR, BN: 128, WARPS: 4, STAGES: 2, TILES_M: 2, TILES_N: 1 },
  ], [
    ...["wgmma_same_k", "wgmma_nn_same_box", "tma_nn_same_part"],
    "tma_nn_same_box",
  ]),
  "warpgroups with the same rows, B by rows": mutantCase("wgmma-k", [
    { ...WHOLE, n: 72 },
    { ...TENSOR, BN: 64, WARPS: 8, STAGES: 2 },
  ], ["wgmma_same_columns"]),
};

/** Tiles of so many rows that a product's other rows are not there. */
const columnsCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
  "104 rows of two products": mutantCase("columns-k", [
    { ...NT, m: 27, n: 212, k: 1160 },
    { BM: 104, BN: 32, BK: 128, WARPS: 8, CLUSTER: 2, RESIDENT: 1 },
  ], [
    ...["across_same_box", "across_no_barrier", "across_same_bias"],
    ...["across_same_rows", "across_same_k", "across_no_finish"],
    ...["across_no_token_guard", "across_no_row_guard"],
  ]),
  "40 rows, columns of two warpgroups": mutantCase("columns-k", [
    { ...NT, m: 61, n: 70, k: 2624 },
    { BM: 40, BN: 64, BK: 64, WARPS: 8, CLUSTER: 1, RESIDENT: 1 },
  ], ["across_same_tokens", "across_late_wait", "weights_no_launch_wait"]),
  "192 rows, two tiles of 80 rows of A": mutantCase("columns-k", [
    { ...NT, m: 150, n: 212, k: 328 },
    { BM: 192, BN: 80, BK: 64, WARPS: 12, CLUSTER: 1, RESIDENT: 1 },
  ], [
    ...["across_same_tile", "across_early_store", "across_no_meeting"],
    ...["out_no_line_guard", "out_no_column_guard"],
  ]),
  "128 columns of a B by rows, two slices": mutantCase("columns-k", [
    { ...WHOLE, m: 27, n: 216, k: 1160 },
    { BM: 128, BN: 32, BK: 128, WARPS: 8, CLUSTER: 2, RESIDENT: 1 },
  ], ["across_nn_same_box", "across_same_rows", "across_same_k"]),
  "128 rows of A, 72 outputs, two slices": mutantCase("columns-k", [
    { ...NT, m: 150, n: 212, k: 1160 },
    {
      TOKEN_ROWS: 1,
      BM: 128,
      BN: 72,
      BK: 128,
      WARPS: 8,
      CLUSTER: 2,
      RESIDENT: 1,
    },
  ], [
    ...["across_same_tile", "across_same_box", "across_same_rows"],
    ...["across_same_column", "across_same_k", "across_no_finish"],
    ...["across_first_slots", "across_no_meeting"],
  ]),
  "256 rows of A, 168 outputs in two products": mutantCase("columns-k", [
    { ...NT, m: 250, n: 166, k: 136 },
    {
      TOKEN_ROWS: 1,
      BM: 256,
      BN: 168,
      BK: 64,
      WARPS: 16,
      CLUSTER: 1,
      RESIDENT: 1,
    },
  ], ["across_same_part", "across_same_k", "across_same_column"]),
  "64 rows of A, 128 outputs of a B by rows": mutantCase("columns-k", [
    { ...WHOLE, m: 100, n: 216, k: 328 },
    {
      TOKEN_ROWS: 1,
      BM: 64,
      BN: 128,
      BK: 64,
      WARPS: 4,
      CLUSTER: 1,
      RESIDENT: 1,
    },
  ], [
    ...["across_nn_same_box", "across_nn_same_columns"],
    ...["across_early_store", "across_no_meeting"],
  ]),
};

/** By what is special about the case. */
export const mutantCases = {
  ...splitCases,
  ...clusterCases,
  ...columnsCases,
};

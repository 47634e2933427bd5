/**
 * Mutants of the CUDA kernels that add the sums of K slices in the same launch.
 *
 * @module
 */

import type { MutantCase } from "../../testdata/mutants.ts";
import type { MatmulPoint } from "../point.ts";
import { mutantCase, WHOLE } from "./cuda_mutants.ts";

const RING = {
  LOAD: "ring",
  ...{ BM: 32, BN: 32, BK: 64, WARPS: 4, KWARPS: 1, STAGES: 2 },
};
const CLUSTER = { ...RING, CLUSTER: 4, PARTS: 1 };
const GRID = { ...RING, CLUSTER: 1, PARTS: 4 };
const WGMMA = {
  LOAD: "wgmma",
  ...{ BK: 128, WARPS: 8, KWARPS: 1, STAGES: 2, CLUSTER: 2, PARTS: 1 },
};
const TENSOR = {
  LOAD: "tensor",
  ...{ BM: 64, BN: 48, BK: 128, KWARPS: 1, CLUSTER: 2, PARTS: 1 },
};
const NT = { ...WHOLE, layout: "nt" };

/** By what is special about the case. */
export const clusterCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
  cluster: mutantCase("cluster-k", [WHOLE, CLUSTER], [
    ...["cluster_few_bytes", "cluster_many_bytes", "cluster_wrong_parity"],
    ...["cluster_early_send", "cluster_no_arrive", "cluster_no_fence"],
    ...["cluster_wrong_owner", "cluster_same_place", "cluster_no_receive"],
    "cluster_no_row_guard",
  ]),
  "a ring for each warp": mutantCase("cluster-k", [
    { ...WHOLE, m: 14, n: 16, k: 3072 },
    {
      ...{ ...CLUSTER, LOAD: "warps" },
      ...{ BM: 16, BN: 16, BK: 512, KWARPS: 4, CLUSTER: 2 },
    },
  ], [
    ...["ring_shared", "ring_same_k", "ring_no_warp_barrier"],
    ...["ring_early_sums", "mma_lost_sums"],
  ]),
  direct: mutantCase("cluster-k", [WHOLE, {
    ...{ ...CLUSTER, LOAD: "direct" },
    ...{ BK: 32, KWARPS: 4, CLUSTER: 2 },
  }], ["direct_wrong_half", "direct_no_row_guard", "direct_same_k"]),
  swapped: mutantCase("cluster-k-swapped", [NT, CLUSTER], [
    "cluster_no_transpose",
  ]),
  grid: mutantCase("grid-k", [WHOLE, GRID], [
    ...["grid_early_arrive", "grid_no_barrier", "grid_not_last"],
    "grid_skip_part",
  ]),
  // Parts so many and so long that the grid counts tiles before them.
  "tiles before slices": mutantCase("grid-k", [
    { ...WHOLE, m: 14, n: 17, k: 12 * 1536 },
    { ...GRID, BM: 16, BN: 16, BK: 256, PARTS: 12 },
  ], ["tiles_swapped"]),
  exchange: mutantCase("exchange-k", [WHOLE, GRID], [
    ...["exchange_no_poll", "exchange_not_emptied", "exchange_same_place"],
  ]),
  // Few units: threads in groups read the parts in turns.
  groups: mutantCase("exchange-k", [
    { ...WHOLE, m: 14, n: 16 },
    { ...GRID, BM: 16, BN: 16, STAGES: 1, PARTS: 12 },
  ], [
    ...["exchange_no_barrier", "exchange_skip_group", "exchange_skip_lanes"],
  ]),
  warpgroups: mutantCase("wgmma-k", [
    { ...NT, m: 100, n: 88 },
    { ...WGMMA, BM: 128, BN: 48 },
  ], [
    ...["wgmma_no_proxy_fence", "wgmma_no_fence", "wgmma_late_wait"],
    ...["wgmma_same_rows", "wgmma_same_box", "wgmma_same_k"],
    ...["tile_no_swizzle", "tile_one_box"],
  ]),
  "warpgroups with the same rows": mutantCase("wgmma-k", [
    { ...NT, n: 88 },
    { ...WGMMA, BM: 64, BN: 96 },
  ], ["wgmma_same_columns"]),
  // A cluster has two tiles, of which one does not exist.
  "tensor maps": mutantCase("wgmma-k", [
    { ...NT, m: 130, n: 88, k: 1200 },
    { ...TENSOR, WARPS: 4, STAGES: 2, TILES_M: 2, TILES_N: 1 },
  ], [
    ...["tma_no_wait", "tma_same_full_phase", "tma_same_empty_phase"],
    ...["tma_early_refill", "tma_one_warp", "tma_early_release"],
    ...["tma_late_wait", "tma_no_finish", "tma_no_barrier"],
    ...["tma_no_fence", "tma_few_bytes", "tma_same_box"],
    ...["tma_same_place", "wgmma_wrong_half", "tiles_wrong_tile"],
    ...["tiles_wrong_slice", "cluster_first_tile"],
  ]),
  "tensor maps of two warpgroups": mutantCase("wgmma-k", [
    { ...NT, m: 70, n: 90, k: 2400 },
    { ...TENSOR, WARPS: 8, STAGES: 3, TILES_M: 1, TILES_N: 2 },
  ], ["tma_one_warpgroup"]),
};

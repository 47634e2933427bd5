/**
 * Mistakes in how tensor maps bring operands, and in where a cluster of several tiles is.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

const RING = "tma_ring.cuh";

/** Of the ring that tensor maps fill, and of blocks that are close together. */
export const tensorMutants: readonly Mutant[] = [
  [
    "the wait for a step",
    "tensor",
    RING,
    "barrier_wait(come + stage * 8, parity);",
    "",
  ],
  [
    "the phase of a stage that comes",
    "tensor",
    RING,
    "before = stage;\n      if (++stage == STAGES) stage = 0, parity ^= 1;",
    "before = stage;\n      if (++stage == STAGES) stage = 0;",
  ],
  [
    "the phase of a stage that is read",
    "tensor",
    RING,
    "ask(step, stage);\n        if (++stage == STAGES) stage = 0, parity ^= 1;",
    "ask(step, stage);\n        if (++stage == STAGES) stage = 0;",
  ],
  [
    "the wait before a stage is filled again",
    "tensor",
    RING,
    "        barrier_wait(read + stage * 8, parity);\n",
    "",
  ],
  [
    "all the warps that have read a stage",
    "tensor",
    RING,
    "barrier_init(read + s * 8, WARPS);",
    "barrier_init(read + s * 8, 1);",
  ],
  [
    "the stage that products have read",
    "tensor",
    RING,
    "barrier_arrive(read + before * 8);",
    "barrier_arrive(read + stage * 8);",
  ],
  [
    "the wait for products that read a stage",
    "tensor",
    RING,
    "wgmma_wait<1>();",
    "wgmma_wait<2>();",
  ],
  [
    "the wait for the last products",
    "tensor",
    RING,
    "    product.finish();\n",
    "",
  ],
  [
    "the halves that lanes swap",
    "tensor",
    "tiled_wgmma.cuh",
    "odd ? upper : lower, 1)",
    "odd ? lower : upper, 1)",
  ],
  [
    "the warps of a second warpgroup that have read a stage",
    "warpgroupsByMaps",
    RING,
    "barrier_init(read + s * 8, WARPS);",
    "barrier_init(read + s * 8, 4);",
  ],
  [
    "the barrier after barriers are made",
    "tensor",
    RING,
    "    __syncthreads();\n    int stage",
    "    int stage",
  ],
  ["the fence after it", "tensor", RING, "      barrier_made();\n", ""],
  [
    "the bytes of a step",
    "tensor",
    RING,
    "barrier_expect(bar, STAGE);",
    "barrier_expect(bar, TileA::BYTES);",
  ],
  [
    "the second half of a step of A",
    "tensor",
    RING,
    "A, k + box * BOX",
    "A, k",
  ],
  [
    "the place of the second half of B",
    "tensor",
    RING,
    "TileA::BYTES + box * BN * 128",
    "TileA::BYTES",
  ],
  [
    "the tile of a block among its cluster's",
    "tensor",
    "cluster.cuh",
    "blockIdx.x / CLUSTER % TILES",
    "blockIdx.x % TILES",
  ],
  [
    "the slice of a block among its tile's",
    "tensor",
    "cluster.cuh",
    "blockIdx.x % CLUSTER :",
    "blockIdx.x / CLUSTER % CLUSTER :",
  ],
  [
    "the blocks of a tile",
    "tensor",
    "cluster_reduce.cuh",
    "first + unit / SHARE",
    "unit / SHARE",
  ],
  [
    "the order of tiles and slices",
    "many",
    "cluster.cuh",
    "n = blockIdx.x, m = blockIdx.y",
    "n = blockIdx.y, m = blockIdx.x",
  ],
];

/**
 * Mistakes in how tensor maps bring operands, and in where a cluster of several tiles is.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

const RING = "tensor_ring.cuh";

/** Of the ring that tensor maps fill, and of blocks that are close together. */
export const tensorMutants: readonly Mutant[] = [
  ["the wait for a step", "tensor", RING, "barrier_wait(bar, parity);", ""],
  ["the phase of a stage", "tensor", RING, ", parity ^= 1;", ";"],
  [
    "the barrier before a stage is filled again",
    "tensor",
    RING,
    "        __syncthreads();\n        if (threadIdx",
    "        if (threadIdx",
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
    "shares.cuh",
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

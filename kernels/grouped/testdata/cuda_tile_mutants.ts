/**
 * Mistakes in the tiles of the kernel that decodes weights in registers.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

/** Of best_tile.cuh and best_store.cuh. */
export const tileMutants: readonly Mutant[] = [
  [
    "the wait for tokens",
    "best",
    "best_tile.cuh",
    "    barrier_wait(next.full(), next.phase);\n",
    "",
  ],
  [
    "the wait for weights",
    "best",
    "best_tile.cuh",
    "wait_copies<WEIGHTS / SPAN - 2>()",
    "wait_copies<WEIGHTS / SPAN - 1>()",
  ],
  [
    "the meeting of lanes after their copies",
    "best",
    "best_tile.cuh",
    "      __syncwarp(); // all lanes' copies",
    "      // all lanes' copies",
  ],
  [
    "whole places for the weights of a tile",
    "best",
    "best_tile.cuh",
    "(place + SPAN - 1) / SPAN * SPAN % WEIGHTS",
    "place",
  ],
  [
    "the fence of a slab's products",
    "best",
    "best_tile.cuh",
    "    wgmma_fence();\n",
    "",
  ],
  [
    "a group for each slab's products",
    "best",
    "best_tile.cuh",
    "    wgmma_commit();\n",
    "",
  ],
  [
    "the wait for products before their operand changes",
    "best",
    "best_tile.cuh",
    "    wgmma_wait<0>();\n    release(now);",
    "    release(now);",
  ],
  [
    "the wait for the last products",
    "best",
    "best_tile.cuh",
    "      wgmma_wait<0>();\n",
    "",
  ],
  [
    "the release of a stage",
    "best",
    "best_tile.cuh",
    "    release(now);\n",
    "",
  ],
  [
    "the release of the last stage",
    "best",
    "best_tile.cuh",
    "      release(next);\n",
    "",
  ],
  [
    "the slabs of each part of K",
    "bestHalves",
    "best_tile.cuh",
    "Part(item, part_of_k()).count",
    "Part(item, 0).count",
  ],
  [
    "the sums of the second part of K",
    "bestHalves",
    "best_store.cuh",
    "  if (group == 0) add<0, FIRST>(d, at);\n",
    "",
  ],
  [
    "the wait for the sums of the first part of K",
    "bestHalves",
    "best_store.cuh",
    "  sync_some<64>(1 + pair);\n  if (group != 0) {",
    "  if (group != 0) {",
  ],
  [
    "the meeting before results are turned",
    "best",
    "best_store.cuh",
    "    __syncwarp();\n    stmatrix",
    "    stmatrix",
  ],
  [
    "the meeting after results are turned",
    "best",
    "best_store.cuh",
    "    __syncwarp();\n    uint4 v",
    "    uint4 v",
  ],
  [
    "the sums of a tile's other pieces",
    "bestPieces",
    "best_store.cuh",
    "load_relaxed(x, from + 128 * i)",
    "load_relaxed(x, from), x[0] = x[1] = x[2] = x[3] = 0",
  ],
  [
    "the place of each piece's sums",
    "bestPieces",
    "best_store.cuh",
    "(long long)p * CLUSTER * WARPS * PARTIAL",
    "0",
  ],
  [
    "the leave of all but the last piece",
    "bestPieces",
    "best_store.cuh",
    "if (!last) return false;",
    "",
  ],
];

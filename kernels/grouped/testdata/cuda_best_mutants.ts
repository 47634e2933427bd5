/**
 * Mistakes in the kernel that decodes weights in registers, and in the one that packs tokens.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

const COPY = "stage.full(), again, (1 << CLUSTER) - 1)";

/** Of best.cu and tokens.cu. */
export const bestMutants: readonly Mutant[] = [
  [
    "the wait for a free stage",
    "best",
    "best.cu",
    "      barrier_wait(stage.empty(), stage.phase ^ 1);\n",
    "",
  ],
  [
    "the bytes of scales",
    "best",
    "best.cu",
    "item.cols * 128 + 512)",
    "item.cols * 128)",
  ],
  [
    "the wait for the kernel before",
    "best",
    "best.cu",
    "  wait_for_prerequisites(); // tokens.cu\n",
    "",
  ],
  [
    "one block of the copies' mask",
    "bestPair",
    "best.cu",
    COPY,
    "stage.full(), again, 1 << rank)",
  ],
  [
    "the cluster's meeting at the end",
    "bestPair",
    "best.cu",
    "    cluster_sync();\n  }\n}",
    "  }\n}",
  ],
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
    "wait_copies<WEIGHTS - 2>()",
    "wait_copies<WEIGHTS - 1>()",
  ],
  [
    "the meeting of lanes after their copies",
    "best",
    "best_tile.cuh",
    "    __syncwarp(); // all lanes' copies",
    "    // all lanes' copies",
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
    "the wait for the products before",
    "best",
    "best_tile.cuh",
    "wgmma_wait<1>()",
    "wgmma_wait<2>()",
  ],
  [
    "the wait for the last products",
    "best",
    "best_tile.cuh",
    "    wgmma_wait<0>();\n",
    "",
  ],
  [
    "the release of a stage",
    "best",
    "best_tile.cuh",
    "    if (!first) release(before());\n",
    "",
  ],
  [
    "the meeting of lanes before the last release",
    "best",
    "best_tile.cuh",
    "    __syncwarp(); // all lanes have",
    "    // all lanes have",
  ],
  [
    "the meeting before results are turned",
    "best",
    "best_tile.cuh",
    "    __syncwarp();\n    stmatrix",
    "    stmatrix",
  ],
  [
    "the meeting after results are turned",
    "best",
    "best_tile.cuh",
    "    __syncwarp();\n    // By rows",
    "    // By rows",
  ],
  ["the swizzle", "best", "tokens.cu", "(4 * v + I) ^ row % 8", "4 * v + I"],
  [
    "the order of chunks",
    "best",
    "tokens.cu",
    "(4 * v + I) ^ row % 8",
    "(2 * I + v) ^ row % 8",
  ],
];

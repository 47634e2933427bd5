/**
 * Mistakes in what the kernel that decodes weights in registers copies, and in the one that packs tokens.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

/** Of best.cu, best_weights.cuh and tokens.cu. */
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
    "bytes + 512 * SCALE_TILES)",
    "bytes)",
  ],
  [
    "the scales of the rows from 128 on",
    "best",
    "best.cu",
    "scales + i * more",
    "scales",
  ],
  [
    "an arrival of those that free a stage",
    "best",
    "best.cu",
    "SHARERS * CLUSTER)",
    "SHARERS * CLUSTER - 1)",
  ],
  [
    "the arrivals of one part of K alone",
    "bestHalves",
    "best.cu",
    "SHARERS * CLUSTER)",
    "WARPS * CLUSTER)",
  ],
  [
    "the first slab of tokens of the second part of K",
    "bestHalves",
    "best.cu",
    "(long long)k.first * slab",
    "0",
  ],
  [
    "stages of each part of K",
    "bestHalves",
    "best.cu",
    "    index += KGROUPS;\n",
    "    index++;\n",
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
    "policy, (1 << CLUSTER) - 1)",
    "policy, 1 << rank())",
  ],
  [
    "the cluster's meeting at the end",
    "bestPair",
    "best.cu",
    "    cluster_sync();\n  }\n}",
    "  }\n}",
  ],
  [
    "the meeting of lanes before a stage is free",
    "best",
    "best.cu",
    "  __syncwarp(); // all lanes have",
    "  // all lanes have",
  ],
  [
    "the end of the rows",
    "best",
    "best_weights.cuh",
    "row + 8 < item.n ? bytes * 8 : 0",
    "bytes * 8",
  ],
  [
    "the end of K",
    "best",
    "best_weights.cuh",
    "left - slab",
    "1",
  ],
  [
    "the turn of rows in a slab's place",
    "best",
    "best_weights.cuh",
    "(lane / LANES ^ slab % 4)",
    "lane / LANES",
  ],
  [
    "the first slab of weights of the second part of K",
    "bestHalves",
    "best_weights.cuh",
    "Part(item, part_of_k()).first",
    "Part(item, 0).first",
  ],
  ["the swizzle", "best", "tokens.cu", "chunk ^ row % 8", "chunk"],
  [
    "the order of chunks",
    "best",
    "tokens.cu",
    "2 * lane + chunk / 4",
    "2 * lane + 1 - chunk / 4",
  ],
];

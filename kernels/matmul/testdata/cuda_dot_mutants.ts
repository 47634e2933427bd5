/**
 * Mistakes in the CUDA kernel for a handful of rows.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

/** In the order of its source. */
export const dotMutants: readonly Mutant[] = [
  [
    "the barrier of the warps' sums",
    "dot",
    "dot.cu",
    "warps[tid / 32]);\n  __syncthreads();",
    "warps[tid / 32]);",
  ],
  [
    "the wait until all blocks run",
    "dot",
    "dot.cu",
    "  cluster_wait();\n  if (tid < OUT) store_cluster",
    "  if (tid < OUT) store_cluster",
  ],
  [
    "the wait for all blocks' sums",
    "dot",
    "dot.cu",
    "return;\n  cluster_wait();",
    "return;",
  ],
  [
    "the release of a block's sums",
    "dot",
    "dot.cu",
    "  cluster_arrive();\n  if (rank > 0)",
    "  cluster_arrive_relaxed();\n  if (rank > 0)",
  ],
  [
    "a block's sums",
    "dot",
    "dot.cu",
    "for (int r = 0; r < CLUSTER; r++) total",
    "for (int r = 1; r < CLUSTER; r++) total",
  ],
  [
    "the sums of the upper lanes",
    "dot",
    "dot.cu",
    "if (upper) first += count;",
    "",
  ],
  [
    "the columns that do not exist",
    "columns",
    "dot.cu",
    "bool there = step < end && n < at.N;",
    "bool there = step < end;",
  ],
  [
    "the end of a block's share",
    "columns",
    "dot.cu",
    "end = min(steps, (rank + 1) * share);",
    "end = min(steps, (rank + 1) * share + 1);",
  ],
];

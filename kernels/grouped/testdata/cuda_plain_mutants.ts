/**
 * Mistakes in the kernels of one plain tile, and in what all kernels share.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

/** Of per_group.cu, persistent.cu, plain.cuh, store.cuh and nvfp4.cuh. */
export const plainMutants: readonly Mutant[] = [
  [
    "the barrier before a product",
    "perGroup",
    "plain.cuh",
    "n0, p.n, slab, p.k, b);\n    __syncthreads();",
    "n0, p.n, slab, p.k, b);",
  ],
  [
    "the barrier after a product",
    "perGroup",
    "plain.cuh",
    "    }\n    __syncthreads();\n  }\n#pragma",
    "    }\n  }\n#pragma",
  ],
  [
    "the guard of rows that are not there",
    "perGroup",
    "plain.cuh",
    "    if (r < rows) {",
    "    {",
  ],
  [
    "the guard of a store",
    "perGroup",
    "store.cuh",
    "if (i >= p.m || j >= p.n) return;",
    "if (i >= p.m) return;",
  ],
  [
    "the second column of a store by columns",
    "perGroupMmajor",
    "store.cuh",
    "c[(long long)(j + 1) * p.m + i]",
    "c[(long long)j * p.m + i + 1]",
  ],
  [
    "the tiles of the problems before",
    "persistent",
    "persistent.cu",
    "    first = end;\n",
    "",
  ],
];

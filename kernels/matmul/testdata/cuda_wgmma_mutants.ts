/**
 * Mistakes in how warpgroups multiply.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

const PRODUCT = "tiled_wgmma.cuh";

/** Of products from shared memory. */
export const wgmmaMutants: readonly Mutant[] = [
  [
    "the fence that shows copies to products",
    "warpgroups",
    PRODUCT,
    "{ show_products(); }",
    "{}",
  ],
  [
    "the fence before products",
    "warpgroups",
    PRODUCT,
    "    wgmma_fence();\n",
    "",
  ],
  [
    "the wait for products",
    "warpgroups",
    PRODUCT,
    "wgmma_wait<0>();",
    "wgmma_wait<1>();",
  ],
  [
    "the rows of a warpgroup",
    "warpgroups",
    PRODUCT,
    "    a += m / 64 * 64 * 128;\n",
    "",
  ],
  [
    "the columns of a warpgroup",
    "columnwise",
    PRODUCT,
    "    b += n * 128;\n",
    "",
  ],
  [
    "the second half of a step",
    "warpgroups",
    PRODUCT,
    "a + box * BM * 128",
    "a",
  ],
  [
    "a part of a step's K",
    "warpgroups",
    PRODUCT,
    "b + box * BN * 128, i % 4",
    "b + box * BN * 128, i % 2",
  ],
  [
    "the swizzle of what is copied",
    "warpgroups",
    "tile.cuh",
    "(chunk % LINE ^ flips(row))",
    "chunk % LINE",
  ],
  [
    "the place of a step's second half",
    "warpgroups",
    "tile.cuh",
    "chunk / LINE * ROWS + row",
    "row",
  ],
];

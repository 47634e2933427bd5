/**
 * Mutants of the Metal kernels of `matmul`.
 *
 * @module
 */

import type { MutantCase } from "../../testdata/cases.ts";
import { metalKernels } from "../metal/metal.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";

const TILE = { BM: 16, BN: 32, BK: 32, SM: 2, SN: 2 };

function mutantCase(
  name: string,
  layout: string,
  mutants: readonly string[],
  stepc = 1,
): MutantCase<MatmulPoint> {
  // Odd: the last column of C has no neighbour.
  const shape = { m: 30, n: 43, k: 600, epilogue: "bias+relu", stepc };
  // The library has no bf16, and no config.
  const type = name === "mps" ? "f16" : "bf16";
  const config = name === "mps"
    ? {}
    : { ...TILE, SPLIT: name === "product" ? 1 : 2 };
  return {
    op: matmul,
    point: matmul.point({ ...shape, type, layout }),
    config,
    kernel: metalKernels.find((kernel) => kernel.name === name)!,
    seeds: [1, 2, 3, 4],
    mutants,
  };
}

/** By what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<MatmulPoint>>> = {
  nn: mutantCase("decompose-k", "nn", [
    ...["metal_early_product", "metal_early_refill", "metal_skip_step"],
    ...["metal_same_slice", "metal_swapped_lanes", "metal_swapped_b"],
    ...["metal_skip_square", "metal_same_rows", "metal_no_row_guard"],
    ...["metal_no_column_guard", "metal_no_k_guard", "metal_sum_no_barrier"],
    "metal_sum_skip_slice",
  ]),
  "columns apart": mutantCase("decompose-k", "nn", [
    ...["metal_strided_flat", "metal_strided_wide_store"],
    ...["metal_strided_no_barrier", "metal_strided_skip_slice"],
  ], 2),
  nt: mutantCase("decompose-k", "nt", ["metal_swapped_b"]),
  unfused: mutantCase("decompose-k-unfused", "nn", ["metal_early_product"]),
  tile: mutantCase("decompose-k-tile", "nn", ["metal_early_refill"]),
  "tile, unfused": mutantCase("decompose-k-tile-unfused", "nn", [
    "metal_no_row_guard",
  ]),
  library: mutantCase("mps", "nn", ["metal_epilogue_no_column_guard"]),
  "one launch": mutantCase("product", "nn", ["metal_no_column_guard"]),
};

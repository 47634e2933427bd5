/**
 * Mutants of the CUDA kernels of `swiglu`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { fused } from "../cuda/cuda.ts";
import { fusedDot } from "../cuda/fused_dot.ts";
import { swiglu, type SwigluPoint } from "../op.ts";

function mutantCase(
  shape: Values,
  config: Values,
  mutants: readonly string[],
  kernel = fused,
): MutantCase<SwigluPoint> {
  const point = swiglu.point(shape);
  return { op: swiglu, kernel, point, config, mutants };
}

/** N and M are no whole tiles; there are two warpgroups of rows, or of tokens. */
export const mutantCases: Readonly<Record<string, MutantCase<SwigluPoint>>> = {
  "128 rows, two boxes": mutantCase(
    { m: 11, n: 140, k: 656, type: "bf16" },
    { BM: 128, BN: 16, BK: 128, WARPS: 8, CLUSTER: 2, RESIDENT: 1 },
    [
      ...["swiglu_same_weights", "swiglu_swapped", "swiglu_same_rows"],
      ...["swiglu_same_box", "swiglu_same_k", "swiglu_no_finish"],
      ...["weights_few_bytes", "weights_no_wait", "swiglu_no_barrier"],
      ...["swiglu_no_row_guard", "swiglu_no_token_guard"],
    ],
  ),
  "64 rows, a ring that is filled again": mutantCase(
    { m: 27, n: 70, k: 2624, type: "f16" },
    { BM: 64, BN: 32, BK: 64, WARPS: 8, CLUSTER: 1, RESIDENT: 1 },
    [
      ...["swiglu_same_tokens", "weights_early_refill", "weights_one_warp"],
      ...["swiglu_late_wait", "weights_no_launch_wait"],
    ],
  ),
  "a few rows, the last block with one gate and one up": mutantCase(
    { m: 3, n: 35, k: 1032, type: "bf16" },
    { THREADS: 128, COLS: 4, UNROLL: 1, CLUSTER: 2 },
    [
      ...["swiglu_dot_same_weights", "swiglu_dot_swapped"],
      "swiglu_dot_no_column_guard",
    ],
    fusedDot,
  ),
};

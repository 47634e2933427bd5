/**
 * Mutants of the CUDA kernel of `scaled-matmul`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { scaledMatmul } from "../op.ts";
import type { ScaledPoint } from "../point.ts";

const kernel = cudaKernels.find(({ name }) => name === "direct")!;
const CONFIG = { ROWS: 32, TOKENS: 16, WARPS: 4, CLUSTER: 2, STAGES: 2 };

/** N and M are no whole tiles; K is no whole turn, and more than three turns of each warp. */
function mutantCase(
  scale: ScaledPoint["scale"],
  mutants: readonly string[],
  shape: Values = { m: 27, n: 140, k: 3216 },
): MutantCase<ScaledPoint> {
  const point = scaledMatmul.point({ ...shape, scale });
  return { op: scaledMatmul, kernel, point, config: CONFIG, mutants };
}

/** By the kind of scales. */
export const mutantCases: Readonly<Record<string, MutantCase<ScaledPoint>>> = {
  row: mutantCase("row", [
    ...["scaled_early_turn", "scaled_same_turn", "scaled_skip_turn"],
    ...["scaled_no_end_guard", "scaled_no_row_guard", "scaled_no_token_guard"],
    ...["scaled_same_word", "scaled_same_half", "scaled_same_rows"],
    ...["scaled_first_scale", "scaled_next_scale"],
  ]),
  tensor: mutantCase("tensor", ["scaled_no_token_scale"]),
  block128: mutantCase("block128", [
    ...["scaled_same_block", "scaled_dense_scales", "scaled_same_token"],
    "scaled_no_fold",
  ]),
};

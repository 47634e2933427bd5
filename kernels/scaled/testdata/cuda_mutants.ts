/**
 * Mutants of the CUDA kernels of `scaled-matmul`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { scaledMatmul } from "../op.ts";
import type { ScaledPoint } from "../point.ts";

/** A case of the kernel `name` with scales of the kind `scale`. */
function mutantCase(
  name: string,
  scale: ScaledPoint["scale"],
  [shape, config]: readonly [shape: Values, config: Values],
  mutants: readonly string[],
): MutantCase<ScaledPoint> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  const point = scaledMatmul.point({ ...shape, scale });
  return { op: scaledMatmul, kernel, point, config, mutants };
}

/** N and M are no whole tiles; K is no whole turn, and more than three turns of each warp. */
const TURNS = [
  { m: 27, n: 140, k: 3216 },
  { ROWS: 32, TOKENS: 16, WARPS: 4, CLUSTER: 2, STAGES: 2 },
] as const;
/** Nor are they here; there are two warpgroups of rows, or of tokens. */
const TALL = [
  { m: 27, n: 140, k: 656 },
  { BM: 128, BN: 16, BK: 256, WARPS: 8, CLUSTER: 2, RESIDENT: 1 },
] as const;
const WIDE = [
  { m: 27, n: 300, k: 1040 },
  { BM: 64, BN: 32, BK: 128, WARPS: 8, CLUSTER: 2, RESIDENT: 1 },
] as const;

/** By the kernel and the kind of scales. */
export const mutantCases: Readonly<Record<string, MutantCase<ScaledPoint>>> = {
  row: mutantCase("direct", "row", TURNS, [
    ...["scaled_early_turn", "scaled_same_turn", "scaled_skip_turn"],
    ...["scaled_no_end_guard", "scaled_no_row_guard", "scaled_no_token_guard"],
    ...["scaled_same_word", "scaled_same_half", "scaled_same_rows"],
    ...["scaled_first_scale", "scaled_next_scale"],
  ]),
  tensor: mutantCase("direct", "tensor", TURNS, ["scaled_no_token_scale"]),
  block128: mutantCase("direct", "block128", TURNS, [
    ...["scaled_same_block", "scaled_dense_scales", "scaled_same_token"],
    "scaled_no_fold",
  ]),
  "wgmma, row": mutantCase("wgmma", "row", TALL, [
    ...["fp8_same_rows", "fp8_same_k", "fp8_no_reset", "fp8_no_wait"],
    ...["fp8_first_scale", "fp8_no_row_guard", "fp8_no_token_guard"],
  ]),
  "wgmma, tensor": mutantCase("wgmma", "tensor", TALL, [
    "fp8_no_token_scale",
  ]),
  "wgmma, block128": mutantCase("wgmma", "block128", WIDE, [
    ...["fp8_same_tokens", "fp8_same_token", "fp8_same_block"],
    ...["fp8_dense_scales", "fp8_no_row_scale"],
  ]),
};

/**
 * Mutants of the CUDA kernels of `scaled-matmul`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { wgmma } from "../cuda/cuda.ts";
import { scaledMatmul } from "../op.ts";
import type { ScaledPoint } from "../point.ts";

/** A case with scales of the kind `scale`. */
function mutantCase(
  scale: ScaledPoint["scale"],
  [shape, config]: readonly [shape: Values, config: Values],
  mutants: readonly string[],
): MutantCase<ScaledPoint> {
  const point = scaledMatmul.point({ ...shape, scale });
  return { op: scaledMatmul, kernel: wgmma, point, config, mutants };
}

/** N and M are no whole tiles; there are two warpgroups of rows, or of tokens. */
const TALL = [
  { m: 27, n: 140, k: 1680 },
  {
    BM: 128,
    BN: 16,
    BK: 256,
    WARPS: 8,
    CLUSTER: 2,
    RESIDENT: 1,
    AHEAD: 1,
  },
] as const;
const WIDE = [
  { m: 27, n: 300, k: 1040 },
  {
    BM: 64,
    BN: 32,
    BK: 128,
    WARPS: 8,
    CLUSTER: 2,
    RESIDENT: 1,
    AHEAD: 0,
  },
] as const;

/** Rows of A are those of products, and two blocks have the slots of a warp in turns. */
const TOKEN_ROWS = [
  { m: 150, n: 300, k: 1040 },
  {
    BM: 128,
    BN: 64,
    BK: 128,
    WARPS: 8,
    CLUSTER: 2,
    RESIDENT: 1,
    AHEAD: 0,
  },
] as const;
/** The same by choice, with a scale for each row and column. */
const ROWS_OF_A = [
  { m: 150, n: 212, k: 1168 },
  {
    TOKEN_ROWS: 1,
    BM: 128,
    BN: 72,
    BK: 128,
    WARPS: 8,
    CLUSTER: 2,
    RESIDENT: 1,
    AHEAD: 1,
  },
] as const;
/** Threads have more registers than all could; the last slot of a warp has no second. */
const RAISED = [
  { m: 172, n: 140, k: 528 },
  {
    BM: 128,
    BN: 176,
    BK: 128,
    WARPS: 8,
    CLUSTER: 1,
    RESIDENT: 1,
    AHEAD: 0,
  },
] as const;

/** By the kind of scales, and what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<ScaledPoint>>> = {
  row: mutantCase("row", TALL, [
    ...["fp8_same_rows", "fp8_same_k", "fp8_no_reset", "fp8_no_wait"],
    ...["fp8_same_box", "fp8_no_barrier", "fp8_no_launch_wait"],
    ...["fp8_first_scale", "fp8_no_row_guard", "fp8_no_token_guard"],
  ]),
  tensor: mutantCase("tensor", TALL, [
    "fp8_no_token_scale",
  ]),
  block128: mutantCase("block128", WIDE, [
    ...["fp8_same_tokens", "fp8_same_token", "fp8_same_block"],
    ...["fp8_dense_scales", "fp8_no_row_scale"],
  ]),
  "block128, rows of A": mutantCase("block128", TOKEN_ROWS, [
    ...["fp8_first_slots", "fp8_no_meeting", "out_no_line_guard"],
  ]),
  "row, rows of A": mutantCase("row", ROWS_OF_A, [
    ...["fp8_first_scale", "fp8_no_token_scale", "fp8_same_rows"],
    ...["fp8_first_slots", "fp8_no_wait", "out_no_line_guard"],
  ]),
  "tensor, raised registers": mutantCase("tensor", RAISED, [
    ...["fp8_early_store", "out_no_column_guard"],
  ]),
};

/**
 * Mutants of the CUDA kernels of `qmm`.
 *
 * @module
 */

import type { MutantCase } from "../../testdata/cases.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, readPoint } from "../point.ts";
import {
  type CudaPlace,
  FLAT,
  FOLDED,
  HALF,
  NARROW,
  SPLIT,
  WIDE,
} from "./cuda_points.ts";

function mutantCase(
  { kernel: name, point, config }: CudaPlace,
  mutants: readonly string[],
): MutantCase<QmmPoint> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  return { op: qmm, kernel, point: readPoint(point), config, mutants };
}

/** By what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<QmmPoint>>> = {
  "two slices": mutantCase(SPLIT, [
    ...["qmm_early_step", "qmm_early_refill", "qmm_shared_barrier"],
    ...["qmm_no_wait", "qmm_late_wait", "qmm_skip_stage"],
    ...["qmm_no_scale_barrier", "qmm_early_sums", "qmm_no_sum_barrier"],
    ...["qmm_wrong_group", "qmm_no_chunk_guard", "qmm_no_row_guard"],
    ...["qmm_same_scale", "octet_wrong_order", "octet_no_offset"],
    ...["mailbox_early_send", "mailbox_no_arrive", "mailbox_no_fence"],
    ...["mailbox_few_bytes", "mailbox_no_receive", "mailbox_same_place"],
  ]),
  "scales in chunks": mutantCase(FOLDED, [
    ...["qmm_no_warp_barrier", "qmm_no_scale_wait", "qmm_no_skip"],
    ...["qmm_no_token_guard", "qmm_same_group", "mailbox_many_bytes"],
  ]),
  "codes across words": mutantCase(NARROW, [
    "qmm_no_word_guard",
    "qmm_no_shift",
  ]),
  "rows of W": mutantCase(WIDE, [
    ...["dots_no_barrier", "qmv_many_bytes", "qmv_long_slice"],
    ...["qmv_no_shift", "octet_adjacent"],
  ]),
  "half a unit": mutantCase(HALF, ["qmv_no_word_guard", "qmv_same_scale"]),
  "columns of W": mutantCase(FLAT, ["qvm_all_lanes", "qvm_no_column_guard"]),
};

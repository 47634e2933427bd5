/**
 * Mistakes in how the CUDA kernels bring and multiply operands.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

/** Of the rings and of products in registers. */
export const ringMutants: readonly Mutant[] = [
  [
    "the wait for copies",
    "ring",
    "ring.cuh",
    "    else wait_copies<STAGES == 1 ? 0 : STAGES - 2>();",
    "",
  ],
  [
    "the wait for the last of the copies needed",
    "ring",
    "ring.cuh",
    "STAGES == 1 ? 0 : STAGES - 2>",
    "STAGES - 1>",
  ],
  [
    "the wait for the first copies",
    "ring",
    "ring.cuh",
    "if (step == 0 || STAGES == 1) wait_copies<STAGES - 1>();",
    "if (step == 0 || STAGES == 1) wait_copies<STAGES>();",
  ],
  [
    "the barrier after the wait",
    "ring",
    "ring.cuh",
    "    __syncthreads();\n    if (STAGES > 1 && step > 0) {",
    "    if (STAGES > 1 && step > 0) {",
  ],
  [
    "a group for each step",
    "ring",
    "ring.cuh",
    "copy(step - 1 + STAGES, before);\n      commit_copies();",
    "copy(step - 1 + STAGES, before);",
  ],
  [
    "the stage that is free",
    "ring",
    "ring.cuh",
    "copy(step - 1 + STAGES, before);",
    "copy(step - 1 + STAGES, stage);",
  ],
  [
    "a stage",
    "ring",
    "ring.cuh",
    "stage = stage + 1 == STAGES ? 0 : stage + 1;",
    "stage = stage + 2 >= STAGES ? 0 : stage + 1;",
  ],
  [
    "the barrier before the one stage is used again",
    "single",
    "ring.cuh",
    "step > 0) {\n      __syncthreads();",
    "step > 0) {",
  ],
  [
    "the end of a ragged row",
    "ragged",
    "tile.cuh",
    "if (j < there) x.at[j] = p[j];",
    "x.at[j] = p[j];",
  ],
  [
    "the rows that do not exist",
    "ring",
    "tile.cuh",
    "int there = row < under ? left - chunk * PER : 0;",
    "int there = left - chunk * PER;",
  ],
  [
    "the swizzle of what is read",
    "ring",
    "product_mma.cuh",
    "a + TileA::at(m + t * 16 + lane % 16, k16 * 2 + lane / 16)",
    "a + ((m + t * 16 + lane % 16) * TileA::CHUNKS + k16 * 2 + lane / 16) * 16",
  ],
  [
    "the order of fragment lanes",
    "ring",
    "product_mma.cuh",
    "lane % 16, k16 * 2 + lane / 16)",
    "lane % 16, k16 * 2 + (lane / 16 ^ 1))",
  ],
  [
    "the second columns' operand",
    "ring",
    "product_mma.cuh",
    "fb[u / 2] + u % 2 * 2",
    "fb[u / 2]",
  ],
  [
    "the lower rows of a product",
    "ring",
    "product_mma.cuh",
    "slot % 2 * 8 + lane / 4",
    "lane / 4",
  ],
  [
    "rows that lanes read together",
    "ffma",
    "product_ffma.cuh",
    "TileA::at(m + r * DOWN, k4)",
    "TileA::at(m + r, k4)",
  ],
  [
    "the K of a group of lanes",
    "ffma",
    "product_ffma.cuh",
    "* GROUPS + group;",
    "* GROUPS;",
  ],
  [
    "the half that a group of lanes gives away",
    "ffma",
    "product_ffma.cuh",
    "upper ? low : high, APART",
    "upper ? high : low, APART",
  ],
  [
    "the share of a group of lanes",
    "ffma",
    "product_ffma.cuh",
    "(group * SLOTS + slot) / FOURS",
    "slot / FOURS",
  ],
  [
    "the barrier at which warps that share K meet",
    "meeting",
    "meeting.cuh",
    "part[i];\n    __syncthreads();",
    "part[i];",
  ],
  [
    "a warp's share of K",
    "meeting",
    "meeting.cuh",
    "for (int k = 0; k < WK; k++) {\n        Vec x",
    "for (int k = 0; k < WK - 1; k++) {\n        Vec x",
  ],
  [
    "the half of a pair",
    "direct",
    "direct_mma.cuh",
    "v % 2 ? 0x7632 : 0x5410",
    "v % 2 ? 0x5410 : 0x7632",
  ],
  [
    "the rows that no lane has",
    "direct",
    "direct_mma.cuh",
    "int there = h * 8 + g < rows ? left - t * 8 : 0;",
    "int there = left - t * 8;",
  ],
  [
    "a warp's steps of K",
    "direct",
    "direct_mma.cuh",
    "int k = (step / 2 * WARPS + warp) * 64",
    "int k = (step / 2 * WARPS + warp / 2) * 64",
  ],
];

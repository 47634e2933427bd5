/**
 * Mistakes planted in the CUDA kernels of `qmm` that multiply and add, and where they show.
 *
 * @module
 */

import { type CudaMutant, FLAT, HALF, WIDE } from "./cuda_points.ts";

/** The mistakes. */
export const dotsMutants: readonly CudaMutant[] = [
  {
    name: "the barrier behind sums",
    at: WIDE,
    file: "dots.cuh",
    from: "  __syncthreads();\n",
    to: "",
  },
  {
    name: "the bytes of the tokens that exist",
    at: WIDE,
    file: "qmv.cu",
    from: "box.open(min(ROWS, M - m0) *",
    to: "box.open(ROWS *",
  },
  {
    name: "the end of a slice",
    at: WIDE,
    file: "qmv.cu",
    from: "min(units, ((int)blockIdx.x + 1) * share)",
    to: "units",
  },
  {
    name: "the bits of an octet's second word",
    at: WIDE,
    file: "qmv.cu",
    from: "high = b >> shift;",
    to: "high = b;",
  },
  {
    name: "the order of codes",
    at: WIDE,
    file: "octet.cuh",
    from: "ADJACENT ? 2 * i + h : i + 4 * h",
    to: "2 * i + h",
  },
  {
    name: "the end of a row of W",
    at: HALF,
    file: "qmv.cu",
    from: "unit * BITS + i < words ?",
    to: "true ?",
  },
  {
    name: "a scale of each half of a unit",
    at: HALF,
    file: "qmv.cu",
    from: "unit * 32 + p * GROUP",
    to: "unit * 32",
  },
  {
    name: "the lanes that have sums",
    at: FLAT,
    file: "qvm.cu",
    from: "if (threadIdx.x % 32 < ACROSS)",
    to: "",
  },
  {
    name: "the end of N",
    at: FLAT,
    file: "qvm.cu",
    from: "n < N && k < end",
    to: "k < end",
  },
];

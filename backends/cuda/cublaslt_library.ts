/**
 * The functions and numbers of cuBLASLt.
 *
 * @module
 */

import {
  LT_RELEASING,
  type LtNumbers,
  ltSymbols,
} from "../shared/blaslt/calls.ts";
import { COMPUTE_32F, cublasError, operationOf } from "./cublas_values.ts";
import { type Checked, openChecked } from "../shared/driver/checked.ts";
import { textAt } from "../shared/ffi.ts";

const PREFIX = "cublasLt";

const CUBLASLT = {
  ...ltSymbols(PREFIX),
  // The statuses of these are answers, whether an algorithm can: not checked.
  cublasLtMatmulAlgoInit: {
    parameters: [
      ...["u64", "i32", "i32"] as const, // handle, types of sums and scalars
      ...["i32", "i32", "i32", "i32"] as const, // types of A, B, C, D
      ...["i32", "buffer"] as const, // id, algorithm
    ],
    result: "u32",
  },
  cublasLtMatmulAlgoCheck: {
    parameters: [
      ...["u64", "u64"] as const, // handle, product
      ...["u64", "u64", "u64", "u64"] as const, // layouts of A, B, C, D
      ...["buffer", "buffer"] as const, // algorithm, result
    ],
    result: "u32",
  },
  cublasLtMatmulAlgoConfigSetAttribute: {
    parameters: ["buffer", "i32", "buffer", "u64"],
    result: "u32",
  },
  cublasLtMatmulAlgoConfigGetAttribute: {
    parameters: ["buffer", "i32", "buffer", "u64", "buffer"],
    result: "u32",
  },
  cublasLtGetStatusName: { parameters: ["i32"], result: "u64" },
  cublasLtGetStatusString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export type Cublaslt = Checked<typeof CUBLASLT>;

/** Its numbers, of cublasLt.h. */
export const CUBLASLT_NUMBERS: LtNumbers = {
  name: "cuBLASLt",
  prefix: PREFIX,
  compute32f: COMPUTE_32F,
  operationOf,
  // cublasLtMatmulDescAttributes_t
  desc: { transA: 3, transB: 4, epilogue: 7, biasPointer: 8 },
  // cublasLtMatrixLayoutAttribute_t
  layout: { batchCount: 5, batchStride: 6 },
  // cublasLtMatmulPreferenceAttributes_t
  preference: { workspace: 1, alignments: [5, 6, 7, 8] },
  // cublasLtMatmulHeuristicResult_t, which begins with a cublasLtMatmulAlgo_t
  result: { bytes: 96, algoBytes: 64, workspace: 64, status: 72 },
};

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openCublaslt(path: string): Cublaslt {
  return openChecked(path, CUBLASLT, {
    releasing: LT_RELEASING,
    error: ({ cublasLtGetStatusName, cublasLtGetStatusString }, call, status) =>
      cublasError(call, status, {
        name: textAt(cublasLtGetStatusName(status)),
        text: textAt(cublasLtGetStatusString(status)),
      }),
  });
}

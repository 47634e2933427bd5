/**
 * The functions and numbers of hipBLASLt.
 *
 * @module
 */

import type { Epilogue } from "../bench/blas.ts";
import { type Checked, openChecked } from "./driver/checked.ts";
import { hipblasError } from "./hipblas.ts";

const HIPBLASLT = {
  hipblasLtCreate: { parameters: ["buffer"], result: "i32" },
  hipblasLtDestroy: { parameters: ["u64"], result: "i32" },
  hipblasLtGetVersion: { parameters: ["u64", "buffer"], result: "i32" },
  hipblasLtMatmulDescCreate: {
    parameters: ["buffer", "i32", "i32"],
    result: "i32",
  },
  hipblasLtMatmulDescDestroy: { parameters: ["u64"], result: "i32" },
  hipblasLtMatmulDescSetAttribute: {
    parameters: ["u64", "i32", "buffer", "u64"],
    result: "i32",
  },
  hipblasLtMatrixLayoutCreate: {
    parameters: ["buffer", "i32", "u64", "u64", "i64"],
    result: "i32",
  },
  hipblasLtMatrixLayoutDestroy: { parameters: ["u64"], result: "i32" },
  hipblasLtMatrixLayoutSetAttribute: {
    parameters: ["u64", "i32", "buffer", "u64"],
    result: "i32",
  },
  hipblasLtMatmulPreferenceCreate: { parameters: ["buffer"], result: "i32" },
  hipblasLtMatmulPreferenceDestroy: { parameters: ["u64"], result: "i32" },
  hipblasLtMatmulPreferenceSetAttribute: {
    parameters: ["u64", "i32", "buffer", "u64"],
    result: "i32",
  },
  hipblasLtMatmulAlgoGetHeuristic: {
    parameters: [
      ...["u64", "u64"] as const, // handle, product
      ...["u64", "u64", "u64", "u64"] as const, // layouts of A, B, C, D
      ...["u64", "i32"] as const, // preference, algorithms asked for
      ...["buffer", "buffer"] as const, // results, how many came
    ],
    result: "i32",
  },
  hipblasLtMatmul: {
    parameters: [
      ...["u64", "u64", "u64"] as const, // handle, product, alpha
      ...["u64", "u64"] as const, // A and its layout
      ...["u64", "u64"] as const, // B
      "u64", // beta
      ...["u64", "u64"] as const, // C
      ...["u64", "u64"] as const, // D
      "u64", // algorithm
      ...["u64", "u64"] as const, // workspace, its bytes
      "u64", // stream
    ],
    result: "i32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export type Hipblaslt = Checked<typeof HIPBLASLT>;

/** hipblasLtMatmulDescAttributes_t. */
export const DESC = {
  transA: 0,
  transB: 1,
  epilogue: 2,
  biasPointer: 3,
  biasType: 4,
} as const;
/** hipblasLtMatrixLayoutAttribute_t. */
export const LAYOUT = { batchCount: 0, batchStride: 1 } as const;
/** hipblasLtMatmulPreferenceAttributes_t. */
export const PREFERENCE = { workspace: 1 } as const;
/** hipblasLtEpilogue_t. */
export const EPILOGUE: Readonly<Record<Epilogue, number>> = {
  "none": 1,
  "relu": 2,
  "bias": 4,
  "bias+relu": 6,
};
/**
 * hipblasLtMatmulHeuristicResult_t: an algorithm of 16 opaque bytes and the workspace that it
 * may take, the workspace that it takes, a status, waves and four reserved numbers.
 */
export const RESULT = {
  bytes: 56,
  algoBytes: 24,
  workspace: 24,
  status: 32,
} as const;

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openHipblaslt(path: string): Hipblaslt {
  return openChecked(path, HIPBLASLT, {
    releasing: [
      "hipblasLtDestroy",
      "hipblasLtMatmulDescDestroy",
      "hipblasLtMatrixLayoutDestroy",
      "hipblasLtMatmulPreferenceDestroy",
    ],
    error: (_, call, status) => hipblasError(call, status, ""),
  });
}

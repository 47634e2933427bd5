/**
 * The functions of cuBLASLt.
 *
 * @module
 */

import { type Checked, openChecked } from "./driver/checked.ts";
import { cublasError } from "./cublas_values.ts";
import { textAt } from "./ffi.ts";

const CUBLASLT = {
  cublasLtCreate: { parameters: ["buffer"], result: "i32" },
  cublasLtDestroy: { parameters: ["u64"], result: "i32" },
  cublasLtMatmulDescCreate: {
    parameters: ["buffer", "i32", "i32"],
    result: "i32",
  },
  cublasLtMatmulDescDestroy: { parameters: ["u64"], result: "i32" },
  cublasLtMatmulDescSetAttribute: {
    parameters: ["u64", "i32", "buffer", "u64"],
    result: "i32",
  },
  cublasLtMatrixLayoutCreate: {
    parameters: ["buffer", "i32", "u64", "u64", "i64"],
    result: "i32",
  },
  cublasLtMatrixLayoutDestroy: { parameters: ["u64"], result: "i32" },
  cublasLtMatrixLayoutSetAttribute: {
    parameters: ["u64", "i32", "buffer", "u64"],
    result: "i32",
  },
  cublasLtMatmulPreferenceCreate: { parameters: ["buffer"], result: "i32" },
  cublasLtMatmulPreferenceDestroy: { parameters: ["u64"], result: "i32" },
  cublasLtMatmulPreferenceSetAttribute: {
    parameters: ["u64", "i32", "buffer", "u64"],
    result: "i32",
  },
  cublasLtMatmulAlgoGetHeuristic: {
    parameters: [
      ...["u64", "u64"] as const, // handle, product
      ...["u64", "u64", "u64", "u64"] as const, // layouts of A, B, C, D
      ...["u64", "i32"] as const, // preference, algorithms asked for
      ...["buffer", "buffer"] as const, // results, how many came
    ],
    result: "i32",
  },
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
  cublasLtMatmul: {
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
  cublasLtGetStatusName: { parameters: ["i32"], result: "u64" },
  cublasLtGetStatusString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export type Cublaslt = Checked<typeof CUBLASLT>;

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openCublaslt(path: string): Cublaslt {
  return openChecked(path, CUBLASLT, {
    releasing: [
      "cublasLtDestroy",
      "cublasLtMatmulDescDestroy",
      "cublasLtMatrixLayoutDestroy",
      "cublasLtMatmulPreferenceDestroy",
    ],
    error: ({ cublasLtGetStatusName, cublasLtGetStatusString }, call, status) =>
      cublasError(call, status, {
        name: textAt(cublasLtGetStatusName(status)),
        text: textAt(cublasLtGetStatusString(status)),
      }),
  });
}

/**
 * AMD's matrix library, called as cuBLAS is.
 *
 * @module
 */

import type { Gemm } from "../../bench/device/blas.ts";
import type { Step } from "../../bench/device/queue.ts";
import {
  blasError,
  type BlasNumbers,
  GEMM_BATCHED_EX,
  GEMM_EX,
  type GemmCalls,
  gemmStep,
} from "../shared/blas/gemm.ts";
import { type Checked, openChecked } from "../shared/driver/checked.ts";
import { out64, textAt } from "../shared/ffi.ts";

const HIPBLAS = {
  hipblasCreate: { parameters: ["buffer"], result: "i32" },
  hipblasDestroy: { parameters: ["u64"], result: "i32" },
  hipblasSetStream: { parameters: ["u64", "u64"], result: "i32" },
  // hipBLAS 2 (ROCm 6) has today's types under these names, and older types under the plain
  // ones; hipBLAS 3 (ROCm 7) has today's under the plain ones alone.
  hipblasGemmEx_v2: { ...GEMM_EX, optional: true },
  hipblasGemmStridedBatchedEx_v2: { ...GEMM_BATCHED_EX, optional: true },
  hipblasGemmEx: GEMM_EX,
  hipblasGemmStridedBatchedEx: GEMM_BATCHED_EX,
  hipblasStatusToString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export type Hipblas = Checked<typeof HIPBLAS>;

/** The numbers of hipblas.h that hipBLAS and hipBLASLt share. */
export const HIPBLAS_NUMBERS: BlasNumbers = {
  name: "hipBLAS",
  prefix: "hipblas",
  // HIPBLAS_COMPUTE_32F
  compute32f: 2,
  // HIPBLAS_GEMM_DEFAULT
  algorithm: 160,
  operations: [111, 112],
  allocFailed: 2,
  notSupported: 7,
};

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openHipblas(path: string): Hipblas {
  return openChecked(path, HIPBLAS, {
    releasing: ["hipblasDestroy"],
    error: ({ hipblasStatusToString }, call, status) =>
      blasError(HIPBLAS_NUMBERS, call, status, {
        name: textAt(hipblasStatusToString(status)),
        text: "",
      }),
  });
}

/** A library's handle, bound to one stream. */
export interface HipblasHandle extends Disposable {
  gemm(gemm: Gemm): Step;
}

/** Creates a handle whose work goes to `stream`. */
export function createHipblas(library: Hipblas, stream: bigint): HipblasHandle {
  const handle = out64((to) => library.hipblasCreate(to));
  using stack = new DisposableStack();
  stack.defer(() => library.hipblasDestroy(handle));
  library.hipblasSetStream(handle, stream);
  const calls: GemmCalls = {
    single: library.hipblasGemmEx_v2 ?? library.hipblasGemmEx,
    batched: library.hipblasGemmStridedBatchedEx_v2 ??
      library.hipblasGemmStridedBatchedEx,
  };
  const owned = stack.move();
  return {
    gemm: (gemm) => gemmStep(HIPBLAS_NUMBERS, calls, handle, gemm),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

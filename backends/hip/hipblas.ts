/**
 * AMD's matrix library.
 *
 * Column-major as cuBLAS is, and called the same way: a row-major C[m,n] is asked for as
 * Cᵀ[n,m], operands swapped.
 *
 * @module
 */

import type { Gemm, Matrix } from "../../bench/device/blas.ts";
import type { Step } from "../../bench/device/queue.ts";
import {
  checkTypes,
  hostOne,
  hostZero,
  typeOf,
} from "../cuda/cublas_values.ts";
import { type Checked, openChecked } from "../shared/driver/checked.ts";
import { CallError, callMessage } from "../shared/driver/error.ts";
import { out64, textAt } from "../shared/ffi.ts";

const GEMM = {
  parameters: [
    "u64", // handle
    ...["i32", "i32"] as const, // transposed operands
    ...["i32", "i32", "i32"] as const, // m, n, k
    "u64", // alpha
    ...["u64", "i32", "i32"] as const, // A, its type and leading dimension
    ...["u64", "i32", "i32"] as const, // B
    "u64", // beta
    ...["u64", "i32", "i32"] as const, // C
    ...["i32", "i32"] as const, // compute type, algorithm
  ],
  result: "i32",
} as const;

const BATCHED = {
  parameters: [
    "u64",
    ...["i32", "i32"] as const,
    ...["i32", "i32", "i32"] as const,
    "u64",
    ...["u64", "i32", "i32", "i64"] as const, // A and its stride in the batch
    ...["u64", "i32", "i32", "i64"] as const,
    "u64",
    ...["u64", "i32", "i32", "i64"] as const,
    "i32", // matrices in the batch
    ...["i32", "i32"] as const,
  ],
  result: "i32",
} as const;

const HIPBLAS = {
  hipblasCreate: { parameters: ["buffer"], result: "i32" },
  hipblasDestroy: { parameters: ["u64"], result: "i32" },
  hipblasSetStream: { parameters: ["u64", "u64"], result: "i32" },
  // hipBLAS 2 (ROCm 6) has today's types under these names, and older types under the plain
  // ones; hipBLAS 3 (ROCm 7) has today's under the plain ones alone.
  hipblasGemmEx_v2: { ...GEMM, optional: true },
  hipblasGemmStridedBatchedEx_v2: { ...BATCHED, optional: true },
  hipblasGemmEx: GEMM,
  hipblasGemmStridedBatchedEx: BATCHED,
  hipblasStatusToString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export type Hipblas = Checked<typeof HIPBLAS>;

/** `HIPBLAS_COMPUTE_32F`. */
export const HIP_COMPUTE_32F = 2;
/** `HIPBLAS_GEMM_DEFAULT`. */
const GEMM_DEFAULT = 160;
const [OP_N, OP_T] = [111, 112];
// hipblasStatus_t with a meaning of their own for a case.
const [ALLOC_FAILED, NOT_SUPPORTED] = [2, 7];

/** Returns `HIPBLAS_OP_T` for a transposed matrix, else `HIPBLAS_OP_N`. */
export function hipOperationOf({ transposed = false }: Matrix): number {
  return transposed ? OP_T : OP_N;
}

/** Returns the error of a call: hipBLAS and hipBLASLt number their statuses alike. */
export function hipblasError(
  call: string,
  status: number,
  name: string,
): CallError {
  const failure = status === NOT_SUPPORTED
    ? "unsupported"
    : status === ALLOC_FAILED
    ? "oom"
    : "launch";
  const message = callMessage(call, status, { name, text: "" });
  return new CallError(failure, message, status);
}

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openHipblas(path: string): Hipblas {
  return openChecked(path, HIPBLAS, {
    releasing: ["hipblasDestroy"],
    error: ({ hipblasStatusToString }, call, status) =>
      hipblasError(call, status, textAt(hipblasStatusToString(status))),
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
  const owned = stack.move();
  return {
    gemm: (gemm) => gemmStep(library, handle, gemm),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function gemmStep(library: Hipblas, handle: bigint, gemm: Gemm): Step {
  const { m, n, k, a, b, c, batch = 1 } = gemm;
  checkTypes("hipBLAS", gemm);
  const [one, zero] = [hostOne(), hostZero()];
  const [opA, opB] = [hipOperationOf(a), hipOperationOf(b)];
  // hipDataType numbers these types as cudaDataType does.
  const [typeA, typeB, typeC] = [typeOf(a), typeOf(b), typeOf(c)];
  const at = ({ memory }: Matrix) => memory.address;
  const stride = (matrix: Matrix) => BigInt(matrix.stride ?? 0);
  const [atA, atB, atC] = [at(a), at(b), at(c)];
  const [strideA, strideB, strideC] = [stride(a), stride(b), stride(c)];
  const gemmEx = library.hipblasGemmEx_v2 ?? library.hipblasGemmEx;
  const batchedEx = library.hipblasGemmStridedBatchedEx_v2 ??
    library.hipblasGemmStridedBatchedEx;
  // deno-fmt-ignore: one operand a line, as in the table above
  const single = () =>
    gemmEx(
      handle, opB, opA, n, m, k, one,
      atB, typeB, b.ld,
      atA, typeA, a.ld, zero,
      atC, typeC, c.ld,
      HIP_COMPUTE_32F, GEMM_DEFAULT,
    );
  // deno-fmt-ignore: as above
  const batched = () =>
    batchedEx(
      handle, opB, opA, n, m, k, one,
      atB, typeB, b.ld, strideB,
      atA, typeA, a.ld, strideA, zero,
      atC, typeC, c.ld, strideC, batch,
      HIP_COMPUTE_32F, GEMM_DEFAULT,
    );
  return {
    label: batch === 1 ? "hipblasGemmEx" : "hipblasGemmStridedBatchedEx",
    capturable: true,
    enqueue: batch === 1 ? single : batched,
  };
}

/**
 * Products by cuBLAS and hipBLAS, which take the same arguments under names and numbers of
 * their own.
 *
 * Both are column-major, and a row-major C[m,n] is a column-major Cᵀ[n,m], so every product
 * is asked for as Cᵀ = op(B)ᵀ · op(A)ᵀ: operands swapped, nothing moved.
 *
 * @module
 */

import type { Gemm, Matrix } from "../../../bench/device/blas.ts";
import type { Step } from "../../../bench/device/queue.ts";
import type { DType } from "../../../bench/model/dtype.ts";
import { CaseError, type Failure } from "../../../bench/model/errors.ts";
import type { Checked, StatusCalls } from "../driver/checked.ts";
import { addressOf } from "../ffi.ts";

/** Functions of a handle. */
export const HANDLE = {
  Create: ["buffer"],
  Destroy: ["u64"],
  SetStream: ["u64", "u64"],
} as const;

/** Functions that compute a product. */
export const GEMMS = {
  GemmEx: [
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
  GemmStridedBatchedEx: [
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
} as const;

/** Names and numbers that differ between the two libraries. */
export interface BlasNumbers {
  /** The library's name in messages. */
  readonly name: string;
  /** The prefix of its functions' names, e.g. `cublas`. */
  readonly prefix: string;
  /** The type of sums: fp32, and never TF32. */
  readonly compute32f: number;
  readonly algorithm: number;
  /** The operations on a matrix: as it is, and transposed. */
  readonly operations: readonly [plain: number, transposed: number];
  /** Statuses with a meaning of their own for a case. */
  readonly allocFailed: number;
  readonly notSupported: number;
}

/** The numbers of cublas_api.h that cuBLAS and cuBLASLt share. */
export const CUBLAS_NUMBERS: BlasNumbers = {
  name: "cuBLAS",
  prefix: "cublas",
  // CUBLAS_COMPUTE_32F: with the default math mode never TF32.
  compute32f: 68,
  // CUBLAS_GEMM_DEFAULT_TENSOR_OP, as torch passes it.
  algorithm: 99,
  operations: [0, 1],
  allocFailed: 3,
  notSupported: 15,
};

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

/** Returns the step that computes `gemm` by the library's `handle`. */
export function gemmStep(
  numbers: BlasNumbers,
  calls: Checked<StatusCalls<typeof GEMMS>>,
  handle: bigint,
  gemm: Gemm,
): Step {
  const { m, n, k, a, b, c, batch = 1 } = gemm;
  const { name, prefix, compute32f, algorithm } = numbers;
  checkTypes(name, gemm);
  const { one, zero } = hostScalars();
  const [opA, opB] = [operationOf(numbers, a), operationOf(numbers, b)];
  const [typeA, typeB, typeC] = [typeOf(a), typeOf(b), typeOf(c)];
  const [atA, atB, atC] = [
    a.memory.address,
    b.memory.address,
    c.memory.address,
  ];
  const stride = (matrix: Matrix) => BigInt(matrix.stride ?? 0);
  const [strideA, strideB, strideC] = [stride(a), stride(b), stride(c)];
  // deno-fmt-ignore: one operand a line, as in the table above
  const single = () =>
    calls.GemmEx(
      handle, opB, opA, n, m, k, one,
      atB, typeB, b.ld,
      atA, typeA, a.ld, zero,
      atC, typeC, c.ld,
      compute32f, algorithm,
    );
  // deno-fmt-ignore: as above
  const batched = () =>
    calls.GemmStridedBatchedEx(
      handle, opB, opA, n, m, k, one,
      atB, typeB, b.ld, strideB,
      atA, typeA, a.ld, strideA, zero,
      atC, typeC, c.ld, strideC, batch,
      compute32f, algorithm,
    );
  return {
    label: `${prefix}Gemm${batch === 1 ? "" : "StridedBatched"}Ex`,
    capturable: true,
    enqueue: batch === 1 ? single : batched,
  };
}

/** Returns the outcome of a case that meets `status`, of a library or its Lt. */
export function failureOf(
  { notSupported, allocFailed }: BlasNumbers,
  status: number,
): Failure {
  return status === notSupported
    ? "unsupported"
    : status === allocFailed
    ? "oom"
    : "launch";
}

/** Returns the library's operation on a matrix: transposed or not. */
export function operationOf(
  { operations }: BlasNumbers,
  { transposed = false }: Matrix,
): number {
  return operations[transposed ? 1 : 0];
}

/** `cudaDataType` and `hipDataType` of the types that are multiplied here. */
const DATA_TYPE: Readonly<Partial<Record<DType, number>>> = {
  f32: 0,
  f16: 2,
  bf16: 14,
  e4m3: 28,
};
/** `CUDA_R_32F`, of alpha and beta. */
export const SCALE_TYPE = 0;

const SCALARS = new Float32Array([1, 0]);

/** Returns the host addresses of a 1 and a 0 in fp32, as alpha and beta. */
export function hostScalars() {
  const one = addressOf(SCALARS.buffer);
  return { one, zero: one + BigInt(SCALARS.BYTES_PER_ELEMENT) };
}

/**
 * Returns the `cudaDataType` of a matrix.
 *
 * @throws {CaseError} `unsupported`, where it has none here.
 */
export function typeOf({ type }: Matrix): number {
  const known = DATA_TYPE[type];
  if (known !== undefined) return known;
  throw new CaseError("unsupported", `cuBLAS is not called for ${type} here`);
}

/**
 * Refuses types that the library cannot multiply with fp32 sums.
 *
 * @throws {CaseError} `unsupported`
 */
export function checkTypes(library: string, { a, b, c }: Gemm): void {
  const known = DATA_TYPE[a.type] !== undefined && a.type !== "e4m3";
  if (known && a.type === b.type && (c.type === a.type || c.type === "f32")) {
    return;
  }
  throw new CaseError(
    "unsupported",
    `${library} multiplies bf16, f16 or f32 into the same type or f32, not ${a.type} by ${b.type} into ${c.type}`,
  );
}

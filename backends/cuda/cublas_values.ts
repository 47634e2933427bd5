/**
 * Types, operations, scalars and statuses that cuBLAS and cuBLASLt share.
 *
 * @module
 */

import type { Gemm, Matrix } from "../../bench/device/blas.ts";
import type { DType } from "../../bench/model/dtype.ts";
import { CaseError } from "../../bench/model/errors.ts";
import {
  CallError,
  callMessage,
  type StatusText,
} from "../shared/driver/error.ts";
import { addressOf } from "../shared/ffi.ts";

/** `cudaDataType` of the types that are multiplied here. */
const CUDA_TYPE: Readonly<Partial<Record<DType, number>>> = {
  f32: 0,
  f16: 2,
  bf16: 14,
};
/** `CUDA_R_32F`, of alpha and beta. */
export const SCALE_TYPE = 0;
/** `CUBLAS_COMPUTE_32F`: fp32 sums, and with the default math mode never TF32. */
export const COMPUTE_32F = 68;

const OP_N = 0;
const OP_T = 1;

// Statuses with a meaning of their own for a case.
const ALLOC_FAILED = 3;
const NOT_SUPPORTED = 15;

/** Returns the error of a call: both libraries number their statuses alike. */
export function cublasError(
  call: string,
  status: number,
  text: StatusText,
): CallError {
  const failure = status === NOT_SUPPORTED
    ? "unsupported"
    : status === ALLOC_FAILED
    ? "oom"
    : "launch";
  return new CallError(failure, callMessage(call, status, text), status);
}

/** Formats 130002 as `13.0.2`. */
export function formatVersion(version: number): string {
  const unit = version >= 100_000 ? 10_000 : 1000;
  const [major, rest] = [Math.floor(version / unit), version % unit];
  return `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}

const SCALARS = new Float32Array([1, 0]);

/** Returns where a 1 in fp32 is on the host, as alpha. */
export function hostOne(): bigint {
  return addressOf(SCALARS.buffer);
}

/** Returns where a 0 in fp32 is on the host, as beta. */
export function hostZero(): bigint {
  return addressOf(SCALARS.buffer, SCALARS.BYTES_PER_ELEMENT);
}

/** Returns `CUBLAS_OP_T` for a transposed matrix, else `CUBLAS_OP_N`. */
export function operationOf({ transposed = false }: Matrix): number {
  return transposed ? OP_T : OP_N;
}

/**
 * Returns the `cudaDataType` of a matrix.
 *
 * @throws {CaseError} `unsupported`, where it has none here.
 */
export function typeOf({ type }: Matrix): number {
  const known = CUDA_TYPE[type];
  if (known !== undefined) return known;
  throw new CaseError("unsupported", `cuBLAS is not called for ${type} here`);
}

/**
 * Refuses types that the library cannot multiply with fp32 sums.
 *
 * @throws {CaseError} `unsupported`
 */
export function checkTypes(library: string, { a, b, c }: Gemm): void {
  const known = CUDA_TYPE[a.type] !== undefined;
  if (known && a.type === b.type && (c.type === a.type || c.type === "f32")) {
    return;
  }
  throw new CaseError(
    "unsupported",
    `${library} multiplies bf16, f16 or f32 into the same type or f32, not ${a.type} by ${b.type} into ${c.type}`,
  );
}

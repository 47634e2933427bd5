/**
 * NVIDIA's matrix library, called as torch.mm and torch.bmm call it.
 *
 * @module
 */

import type { Gemm } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
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
import { out32, out64, textAt } from "../shared/ffi.ts";

const CUBLAS = {
  cublasCreate_v2: { parameters: ["buffer"], result: "i32" },
  cublasDestroy_v2: { parameters: ["u64"], result: "i32" },
  cublasGetVersion_v2: { parameters: ["u64", "buffer"], result: "i32" },
  cublasSetStream_v2: { parameters: ["u64", "u64"], result: "i32" },
  cublasSetWorkspace_v2: { parameters: ["u64", "u64", "u64"], result: "i32" },
  cublasSetMathMode: { parameters: ["u64", "i32"], result: "i32" },
  cublasGemmEx: GEMM_EX,
  cublasGemmStridedBatchedEx: GEMM_BATCHED_EX,
  cublasGetStatusName: { parameters: ["i32"], result: "u64" },
  cublasGetStatusString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

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
const DEFAULT_MATH = 0;
const MIB = 2 ** 20;

/** The opened library. */
export type Cublas = Checked<typeof CUBLAS>;

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openCublas(path: string): Cublas {
  return openChecked(path, CUBLAS, {
    releasing: ["cublasDestroy_v2"],
    error: ({ cublasGetStatusName, cublasGetStatusString }, call, status) =>
      blasError(CUBLAS_NUMBERS, call, status, {
        name: textAt(cublasGetStatusName(status)),
        text: textAt(cublasGetStatusString(status)),
      }),
  });
}

/** Returns the workspace that torch gives to cuBLAS on a device of `arch`, bytes. */
export function workspaceBytes(arch: string): number {
  // Elsewhere `:4096:2:16:8`: two buffers of 4 MiB and eight of 16 KiB.
  return arch.startsWith("sm_90") ? 32 * MIB : 8 * MIB + MIB / 8;
}

/** A library's handle, bound to one stream and one workspace. */
export interface CublasHandle extends Disposable {
  /** e.g. `13.0.2`. */
  readonly version: string;
  gemm(gemm: Gemm): Step;
}

/** Creates a handle whose work goes to `stream`. */
export function createCublas(
  library: Cublas,
  device: Device,
  stream: bigint,
): CublasHandle {
  const handle = out64((to) => library.cublasCreate_v2(to));
  using stack = new DisposableStack();
  stack.defer(() => library.cublasDestroy_v2(handle));
  const workspace = stack.use(device.alloc(workspaceBytes(device.info.arch)));
  library.cublasSetStream_v2(handle, stream);
  // After the stream: setting a stream resets the workspace.
  const bytes = BigInt(workspace.bytes);
  library.cublasSetWorkspace_v2(handle, workspace.address, bytes);
  library.cublasSetMathMode(handle, DEFAULT_MATH);
  const version = out32((to) => library.cublasGetVersion_v2(handle, to));
  const calls: GemmCalls = {
    single: library.cublasGemmEx,
    batched: library.cublasGemmStridedBatchedEx,
  };
  const owned = stack.move();
  return {
    version: formatVersion(version),
    gemm: (gemm) => gemmStep(CUBLAS_NUMBERS, calls, handle, gemm),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** Formats 130002 as `13.0.2`. */
export function formatVersion(version: number): string {
  const unit = version >= 100_000 ? 10_000 : 1000;
  const [major, rest] = [Math.floor(version / unit), version % unit];
  return `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}

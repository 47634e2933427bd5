/**
 * NVIDIA's matrix library, called as torch.mm and torch.bmm call it.
 *
 * It is column-major, and a row-major C[m,n] is a column-major Cᵀ[n,m], so every
 * product is asked for as Cᵀ = op(B)ᵀ · op(A)ᵀ: operands swapped, nothing moved.
 *
 * @module
 */

import type { Gemm, Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Step } from "../../bench/device/queue.ts";
import {
  checkTypes,
  COMPUTE_32F,
  cublasError,
  formatVersion,
  hostOne,
  hostZero,
  operationOf,
  typeOf,
} from "./cublas_values.ts";
import { type Checked, openChecked } from "../shared/driver/checked.ts";
import { out32, out64, textAt } from "../shared/ffi.ts";

const CUBLAS = {
  cublasCreate_v2: { parameters: ["buffer"], result: "i32" },
  cublasDestroy_v2: { parameters: ["u64"], result: "i32" },
  cublasGetVersion_v2: { parameters: ["u64", "buffer"], result: "i32" },
  cublasSetStream_v2: { parameters: ["u64", "u64"], result: "i32" },
  cublasSetWorkspace_v2: { parameters: ["u64", "u64", "u64"], result: "i32" },
  cublasSetMathMode: { parameters: ["u64", "i32"], result: "i32" },
  cublasGemmEx: {
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
  },
  cublasGemmStridedBatchedEx: {
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
  },
  cublasGetStatusName: { parameters: ["i32"], result: "u64" },
  cublasGetStatusString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** `CUBLAS_GEMM_DEFAULT_TENSOR_OP`, as torch passes it. */
const GEMM_DEFAULT_TENSOR_OP = 99;
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
      cublasError(call, status, {
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
  const owned = stack.move();
  return {
    version: formatVersion(version),
    gemm: (gemm) => gemmStep(library, handle, gemm),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function gemmStep(library: Cublas, handle: bigint, gemm: Gemm): Step {
  const { m, n, k, a, b, c, batch = 1 } = gemm;
  checkTypes("cuBLAS", gemm);
  const [one, zero] = [hostOne(), hostZero()];
  const [opA, opB] = [operationOf(a), operationOf(b)];
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
    library.cublasGemmEx(
      handle, opB, opA, n, m, k, one,
      atB, typeB, b.ld,
      atA, typeA, a.ld, zero,
      atC, typeC, c.ld,
      COMPUTE_32F, GEMM_DEFAULT_TENSOR_OP,
    );
  // deno-fmt-ignore: as above
  const batched = () =>
    library.cublasGemmStridedBatchedEx(
      handle, opB, opA, n, m, k, one,
      atB, typeB, b.ld, strideB,
      atA, typeA, a.ld, strideA, zero,
      atC, typeC, c.ld, strideC, batch,
      COMPUTE_32F, GEMM_DEFAULT_TENSOR_OP,
    );
  return {
    label: batch === 1 ? "cublasGemmEx" : "cublasGemmStridedBatchedEx",
    capturable: true,
    enqueue: batch === 1 ? single : batched,
  };
}

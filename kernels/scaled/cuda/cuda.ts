/**
 * The CUDA kernels of {@linkcode scaledMatmul}: cuBLASLt, by its first choice and by a search,
 * and products of warpgroups.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { fusedKernels } from "../../common/blas.ts";
import { scaledMatmul } from "../op.ts";
import type { ScaledPoint } from "../point.ts";
import { wgmma } from "./wgmma.ts";

/** The workspace in bytes that PyTorch gives cuBLASLt on Hopper. */
const WORKSPACE_BYTES = 32 << 20;

/** FP8 operands and block scales that cuBLASLt takes (cuBLAS 13.0 documentation). */
function notInBlaslt({ m, n, k, scale }: ScaledPoint): string | undefined {
  if (k % 16 !== 0 || n % 8 !== 0) {
    return `N=${n}, K=${k}: cuBLASLt takes rows of whole 16-byte chunks`;
  }
  return scale === "block128" && m % 4 !== 0
    ? `M=${m}: cuBLASLt takes block scales for multiples of 4`
    : undefined;
}

const library = fusedKernels(scaledMatmul, {
  ...{ backend: "cuda", name: "cublaslt", title: "cuBLASLt" },
  ...{ workspaceBytes: WORKSPACE_BYTES, searched: "algorithms" },
  product: "the library's scaled FP8 product",
  unsupported: notInBlaslt,
  gemmOf: ({ m, n, k, scale }, { A, B, scaleA, scaleB, C }) => ({
    ...{ m, n, k, epilogue: "none" },
    a: { memory: A!, type: "e4m3", ld: k },
    b: { memory: B!, type: "e4m3", ld: k, transposed: true },
    c: { memory: C!, type: "bf16", ld: n },
    scales: { kind: scale, a: scaleA!, b: scaleB! },
  }),
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<ScaledPoint>[] = [...library, wgmma];

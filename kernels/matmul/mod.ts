/**
 * The kernels of {@linkcode matmul}.
 *
 * @module
 */

import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { cpuKernels } from "./cpu/cpu.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { columnsK } from "./cuda/columns/columns.ts";
import { dot } from "./cuda/dot.ts";
import { hipKernels } from "./hip/hip.ts";
import { splitkKernels } from "./hip/splitk/splitk.ts";
import { metalKernels } from "./metal/metal.ts";
import type { MatmulPoint } from "./point.ts";

export { matmul } from "./op.ts";
export type { MatmulPoint } from "./point.ts";

/** All kernels: baselines first, then simplest first. */
export const kernels: readonly Kernel<MatmulPoint>[] = [
  ...cudaKernels,
  ...hipKernels,
  ...metalKernels,
  ...cpuKernels,
];

/**
 * The baselines of speed-ups on each backend, the preferred first: the vendor's library; on Metal,
 * whose library knows no bf16, the kernel that does not split K.
 */
export const baselines: readonly string[] = [
  "cublas",
  "hipblas",
  "mps",
  "product",
  "openblas",
  "blocked",
  "naive",
];

/** Kernels for layers of models, of few rows and a large N: suites of square outputs leave them out. */
const layerKernels: readonly Kernel<MatmulPoint>[] = [
  columnsK,
  dot,
  ...splitkKernels,
];

/** The kernels for square outputs of a long K. */
export const skinnyKernels: readonly Kernel<MatmulPoint>[] = kernels.filter((
  kernel,
) => !layerKernels.includes(kernel));

/** Of these, all but the unfused variants that only an epilogue tells from the fused ones. */
export const plainKernels: readonly Kernel<MatmulPoint>[] = skinnyKernels
  .filter(isPlain);

/** The plain kernels, and the one for a handful of rows. */
export const linearKernels: readonly Kernel<MatmulPoint>[] = kernels.filter((
  kernel,
) => isPlain(kernel) && !splitkKernels.includes(kernel));

function isPlain({ name }: Kernel<MatmulPoint>): boolean {
  return !name.endsWith("-unfused");
}

/**
 * The libraries, baselines of the decode suites: the first with a time is the baseline, and the
 * one that was searched comes first, so that no gain is owed to a poor guess of its.
 */
export const libraries = [
  "cublaslt-tuned",
  "cublaslt",
  "cublas",
  "hipblaslt-tuned",
  "hipblaslt",
  "hipblas",
  "openblas",
  "blocked",
  "naive",
] as const;

/** The kernels of the decode suites: libraries, and on each GPU and the CPU what splits K. */
export const decodeKernels: readonly Kernel<MatmulPoint>[] = kernels.filter((
  { name, backend },
) =>
  backend !== "metal" &&
  [
    ...libraries,
    ...[
      "decompose-k",
      "exchange-k",
      "cluster-k",
      "wgmma-k",
      "columns-k",
      "dot",
    ],
    ...["splitk-lds", "splitk-lds-atomic"],
  ].includes(name)
);

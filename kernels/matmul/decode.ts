/**
 * The kernels that decoding is measured with: products of few rows by weights `B[N, K]`.
 *
 * @module
 */

import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { kernels as products, type MatmulPoint } from "./mod.ts";
import { splitkKernels } from "./hip/splitk/splitk.ts";

export { matmul, type MatmulPoint } from "./mod.ts";

/**
 * The libraries, whose fastest is what a kernel of ours must beat. The first with a time is
 * the baseline: the one that was searched, so that no gain is owed to a poor guess of its.
 */
export const libraries = [
  "cublaslt-tuned",
  "cublaslt",
  "cublas",
  "hipblaslt-tuned",
  "hipblaslt",
  "hipblas",
  "openblas",
  "naive",
] as const;

/** Those that split K, and the one for a handful of rows, on every backend that has them. */
export const splitting = [
  "decompose-k",
  "exchange-k",
  "cluster-k",
  "wgmma-k",
  "dot",
] as const;

const NAMES: readonly string[] = [...libraries, ...splitting];

function of(...backends: readonly string[]): readonly Kernel<MatmulPoint>[] {
  return products.filter(({ name, backend }) =>
    NAMES.includes(name) && backends.includes(backend)
  );
}

/** All kernels: of each backend the libraries, then what splits K. */
export const kernels: readonly Kernel<MatmulPoint>[] = [
  ...of("cuda", "hip"),
  ...splitkKernels,
  ...of("cpu"),
];

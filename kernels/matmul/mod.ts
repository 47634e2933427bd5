/**
 * The kernels of {@linkcode matmul}.
 *
 * @module
 */

import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { cpuKernels } from "./cpu/cpu.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { dot } from "./cuda/dot.ts";
import { hipKernels } from "./hip/hip.ts";
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
 * What speed-ups are relative to on each backend, the preferred first: the vendor's library,
 * and on Metal, where none is called, the product that cuts nothing.
 */
export const baselines: readonly string[] = [
  "cublas",
  "hipblas",
  "product",
  "openblas",
  "naive",
];

/** All but the one for a handful of rows. */
export const skinnyKernels: readonly Kernel<MatmulPoint>[] = kernels.filter((
  kernel,
) => kernel !== dot);

/** Of these, all but the unfused variants that only an epilogue tells from the fused ones. */
export const plainKernels: readonly Kernel<MatmulPoint>[] = skinnyKernels
  .filter(isPlain);

/** All but these variants: for any number of rows. */
export const decodeKernels: readonly Kernel<MatmulPoint>[] = kernels.filter(
  isPlain,
);

function isPlain({ name }: Kernel<MatmulPoint>): boolean {
  return !name.endsWith("-unfused");
}

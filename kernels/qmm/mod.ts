/**
 * The kernels of {@linkcode qmm}.
 *
 * @module
 */

import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { cpuKernels } from "./cpu/cpu.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { metalKernels } from "./metal/metal.ts";
import type { QmmPoint } from "./point.ts";

export { qmm } from "./op.ts";
export type { QmmPoint } from "./point.ts";

/** All kernels: baselines first, then simplest first. */
export const kernels: readonly Kernel<QmmPoint>[] = [
  ...cudaKernels,
  ...metalKernels,
  ...cpuKernels,
];

/**
 * The baselines of speed-ups on each backend, the preferred first: a library on 16-bit weights;
 * on Metal, whose library knows no bf16, what MLX would run.
 */
export const baselines: readonly string[] = [
  ...["cublas", "mps", "mlx", "dense", "naive"],
];

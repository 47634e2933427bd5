/**
 * The kernels of {@linkcode matmul}.
 *
 * @module
 */

import type { Kernel } from "../../bench/kernel.ts";
import { cpuKernels } from "./cpu.ts";
import { cudaKernels } from "./cuda.ts";
import type { MatmulPoint } from "./op.ts";

export { matmul, type MatmulPoint } from "./op.ts";

/** All kernels: baselines first, then simplest first. */
export const kernels: readonly Kernel<MatmulPoint>[] = [
  ...cudaKernels,
  ...cpuKernels,
];

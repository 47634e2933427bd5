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

/** All but the twins that only an epilogue tells from the kernels they are twins of. */
export const plainKernels: readonly Kernel<MatmulPoint>[] = kernels.filter((
  { name },
) => !name.endsWith("-unfused"));

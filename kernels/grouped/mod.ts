/**
 * The kernels of {@linkcode groupedMatmul}.
 *
 * @module
 */

import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { cpuKernels } from "./cpu/cpu.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import type { GroupedPoint } from "./point.ts";

export { groupedMatmul } from "./op.ts";
export type { GroupedPoint } from "./point.ts";

/** All kernels, simplest first. */
export const kernels: readonly Kernel<GroupedPoint>[] = [
  ...cudaKernels,
  ...cpuKernels,
];

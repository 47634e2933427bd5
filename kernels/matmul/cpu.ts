/**
 * The CPU kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../bench/kernel.ts";
import type { MatmulPoint } from "./op.ts";

/** In the order of listings and tables. */
export const cpuKernels: readonly Kernel<MatmulPoint>[] = [];

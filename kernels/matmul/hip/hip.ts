/**
 * The HIP kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { libraryKernels } from "../library.ts";
import type { MatmulPoint } from "../point.ts";
import { decomposeK, hipDecompose } from "./decompose_k.ts";
import { splitkKernels } from "./splitk/splitk.ts";

/** In the order of listings and tables. */
export const hipKernels: readonly Kernel<MatmulPoint>[] = [
  ...libraryKernels(hipDecompose, {
    plain: "hipblas",
    name: "hipblaslt",
    title: "hipBLASLt",
    // As PyTorch gives it on gfx94x.
    workspaceBytes: 76 << 20,
    searched: "solutions",
  }),
  ...decomposeK,
  ...splitkKernels,
];

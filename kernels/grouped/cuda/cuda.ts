/**
 * The CUDA kernels of {@linkcode groupedMatmul}, in the order in which the competition's entry
 * that this follows was made: each adds one idea.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { best } from "./best.ts";
import { blackwell } from "./blackwell/blackwell.ts";
import { perGroup, persistent } from "./plain.ts";
import type { GroupedPoint } from "../point.ts";
import { cluster, dynamic } from "./ring.ts";

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<GroupedPoint>[] = [
  perGroup,
  persistent,
  dynamic,
  cluster,
  best,
  blackwell,
];

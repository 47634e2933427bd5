/**
 * Finds kernels of `matmul` by name and plans their launches, for tests.
 *
 * @module
 */

import { assert } from "@std/assert";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { h200 } from "../../testdata/devices.ts";
import { listen, type Listening } from "../../testdata/listener.ts";
import { cudaKernels, type TileConfig } from "../cuda/cuda.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";

/** A config of decompose-k that is legal at M = N = 16, K = 8192. */
export const config: TileConfig = {
  BM: 16,
  BN: 16,
  BK: 64,
  GROUP_M: 8,
  WARPS: 2,
  STAGES: 4,
  SPLIT: 64,
};
/** The first shape of MLSys decompose-K. */
export const seed = matmul.point({ m: 16, n: 16, k: 8192, epilogue: "relu" });

/** The kernel of that name among `kernels`, or the reference. */
export function kernel(
  name: string,
  kernels: readonly Kernel<MatmulPoint>[] = cudaKernels,
) {
  const found = [...kernels, ...matmul.referenceKernels ?? []]
    .find((k) => k.name === name);
  assert(found, name);
  return found;
}

/** The legal configs of a kernel at a point. */
export function legal(name: string, values: Values): Values[] {
  return [...kernel(name).candidates(matmul.point(values), h200)]
    .filter((c) => c.illegal === undefined).map((c) => c.config);
}

/** Returns the launches of the kernel of that name at `values` and `config`. */
export function plan(
  name: string,
  values: Values,
  config: Values = {},
  { kernels = cudaKernels, ...how }: Listening & {
    readonly kernels?: readonly Kernel<MatmulPoint>[];
  } = {},
) {
  return listen(matmul, kernel(name, kernels), { values, config, ...how });
}

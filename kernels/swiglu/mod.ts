/**
 * The kernels of {@linkcode swiglu}; those of the CPU are defined here.
 *
 * @module
 */

import { BYTES } from "../../bench/model/dtype.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { launched } from "../common/launch.ts";
import { TYPE_NUMBERS } from "../matmul/point.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { swiglu, type SwigluPoint } from "./op.ts";

export { swiglu } from "./op.ts";
export type { SwigluPoint } from "./op.ts";

const SOURCE = new URL("./cpu/swiglu.c", import.meta.url);

/** Multiplications that take one thread about a second. */
const MOST = 2 ** 28;

const naive: Kernel<SwigluPoint> = launched(swiglu, {
  name: "naive",
  backend: "cpu",
  idea: "plain loops for both products, fp32 sums, one thread",
  teaching: true,
  unsupported: ({ m, n, k }) =>
    2 * m * n * k <= MOST
      ? undefined
      : `${
        2 * m * n * k
      } multiplications would take long: it does ${MOST} at most`,
  build: () => ({ source: SOURCE, defines: {} }),
  launch: ({ point, operands }) => ({
    entry: "naive",
    args: [...swiglu.args(point, operands), TYPE_NUMBERS[point.type]],
  }),
});

const fused: Kernel<SwigluPoint> = launched(swiglu, {
  name: "fused",
  backend: "cpu",
  idea:
    "rows of both weights converted in the first-level cache, vectors, threads",
  build: () => ({ source: SOURCE, defines: {} }),
  launch: ({ point, operands, device, alloc }) => ({
    entry: "fused",
    args: [
      ...swiglu.args(point, operands),
      ...[TYPE_NUMBERS[point.type], alloc(point.m * point.k * BYTES.f32)],
      device.info.units,
    ],
  }),
});

/** All kernels: baselines first, then simplest first. */
export const kernels: readonly Kernel<SwigluPoint>[] = [
  ...cudaKernels,
  naive,
  fused,
];

/** Kernels that speed-ups are relative to, the preferred first. */
export const baselines: readonly string[] = [
  ...["cublas", "cublas-merged"],
  "naive",
];

/**
 * The kernels of {@linkcode scaledMatmul}; those of the CPU are defined here.
 *
 * @module
 */

import { BYTES } from "../../bench/model/dtype.ts";
import { defineLaunch } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { launched } from "../common/launch.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { scaledMatmul } from "./op.ts";
import type { ScaledPoint } from "./point.ts";

export { scaledMatmul } from "./op.ts";
export type { ScaledPoint } from "./point.ts";

const SOURCE = new URL("./cpu/scaled.c", import.meta.url);

/** Multiplications that take one thread about a second. */
const MOST = 2 ** 28;

const naive: Kernel<ScaledPoint> = defineLaunch(scaledMatmul, {
  name: "naive",
  backend: "cpu",
  idea: "three loops over decoded operands, fp32 sums, one thread",
  teaching: true,
  source: SOURCE,
  entry: "naive",
  unsupported: ({ m, n, k }) =>
    m * n * k <= MOST
      ? undefined
      : `${m * n * k} multiplications would take long: it does ${MOST} at most`,
});

const dequant: Kernel<ScaledPoint> = launched(scaledMatmul, {
  name: "dequant",
  backend: "cpu",
  idea: "rows of B decoded into the first-level cache, vectors, threads",
  build: () => ({ source: SOURCE, defines: {} }),
  launch: ({ point, operands, device, alloc }) => ({
    entry: "dequant",
    args: [
      ...scaledMatmul.args(point, operands),
      alloc(point.m * point.k * BYTES.f32),
      device.info.units,
    ],
  }),
});

/** All kernels: baselines first, then simplest first. */
export const kernels: readonly Kernel<ScaledPoint>[] = [
  ...cudaKernels,
  naive,
  dequant,
];

/** Kernels that speed-ups are relative to, the preferred first. */
export const baselines: readonly string[] = [
  "cublaslt-tuned",
  "cublaslt",
  "naive",
];

/**
 * The kernels of {@linkcode scaledMatmul}; those of the CPU are defined here.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import { i32, mem } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { defineKernel, defineLaunch } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { scaledMatmul } from "./op.ts";
import type { ScaledPoint } from "./point.ts";

export { scaledMatmul } from "./op.ts";
export type { ScaledPoint } from "./point.ts";

const BUILD: Build = {
  source: new URL("./cpu/scaled.c", import.meta.url),
  defines: {},
};
const ONE = { grid: [1, 1, 1], block: [1, 1, 1] } as const;

/** Multiplications that take one thread about a second. */
const MOST = 2 ** 28;

const naive: Kernel<ScaledPoint> = defineLaunch(scaledMatmul, {
  name: "naive",
  backend: "cpu",
  idea: "three loops over decoded operands, fp32 sums, one thread",
  source: BUILD.source,
  entry: "naive",
  unsupported: ({ m, n, k }) =>
    m * n * k <= MOST
      ? undefined
      : `${m * n * k} multiplications would take long: it does ${MOST} at most`,
});

const dequant: Kernel<ScaledPoint> = defineKernel(scaledMatmul, {
  name: "dequant",
  backend: "cpu",
  idea: "rows of B decoded into the first-level cache, vectors, threads",
  builds: () => [BUILD],
  prepare({ point, operands, device, program, alloc }) {
    const step = program(BUILD, "dequant").step([
      ...scaledMatmul.args(point, operands),
      mem(alloc(point.m * point.k * BYTES.f32)),
      i32(device.info.units),
    ], ONE);
    return { steps: [step] };
  },
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

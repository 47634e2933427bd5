/**
 * The CUDA kernels of {@linkcode swiglu}: products of cuBLAS and a kernel that joins them, and all
 * in one launch.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { Memory, Step } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../../bench/model/kernel_spec.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { blasOf } from "../../common/blas.ts";
import { launch } from "../../common/launch.ts";
import { swiglu, type SwigluPoint } from "../op.ts";
import { fused } from "./swiglu.ts";

type Site = Context<SwigluPoint, Values>;

/** Threads of a block of `silu.cu`, and columns of a thread. */
const SILU = { threads: 256, each: 8 };

function siluOf({ type }: SwigluPoint): Build {
  return {
    source: new URL("./silu.cu", import.meta.url),
    defines: { TYPE: type },
  };
}

/** silu(gate) * up of sums whose rows are `ld` apart. */
function joined(
  site: Site,
  { gate, up, ld }: {
    readonly gate: Memory;
    readonly up: Memory;
    readonly ld: number;
  },
): Step {
  const { m, n } = site.point;
  const { threads, each } = SILU;
  const blocks = Math.ceil(m * Math.ceil(n / each) / threads);
  return launch(site, siluOf(site.point), {
    args: [gate, up, site.operands.C, m, n, ld],
    shape: { grid: [blocks, 1, 1], block: [threads, 1, 1] },
  });
}

/** The library's product of X with `rows` rows of weights. */
function productOf(
  { point: { m, k, type }, operands, device, alloc }: Site,
  weights: Memory,
  rows: number,
): { readonly sums: Memory; readonly step: Step } {
  const sums = alloc(m * rows * BYTES[type]);
  const step = blasOf(device).gemm({
    ...{ m, n: rows, k },
    a: { memory: operands.X!, type, ld: k },
    b: { memory: weights, type, ld: k, transposed: true },
    c: { memory: sums, type, ld: rows },
  });
  return { sums, step };
}

const cublas: Kernel<SwigluPoint> = defineKernel(swiglu, {
  name: "cublas",
  backend: "cuda",
  library: true,
  idea:
    "two products of the library, then silu(gate) * up by a kernel of its own",
  builds: (point) => [siluOf(point)],
  prepare(site) {
    const { operands: { W1, W2 }, point: { n } } = site;
    const [gate, up] = [productOf(site, W1!, n), productOf(site, W2!, n)];
    return {
      steps: [
        ...[gate.step, up.step],
        joined(site, { gate: gate.sums, up: up.sums, ld: n }),
      ],
    };
  },
});

const merged: Kernel<SwigluPoint> = defineKernel(swiglu, {
  name: "cublas-merged",
  backend: "cuda",
  library: true,
  idea:
    "weights stored one below the other before the clock starts, one product, then silu(gate) * up",
  builds: (point) => [siluOf(point)],
  prepare(site) {
    const { operands: { W1, W2 }, point: { m, n, k, type }, alloc } = site;
    const bytes = n * k * BYTES[type];
    const weights = alloc(2 * bytes);
    const { sums, step } = productOf(site, weights, 2 * n);
    const row = n * BYTES[type];
    const up = sums.slice(row, (2 * m - 1) * row);
    return {
      setup: [{
        label: "merge",
        capturable: false,
        enqueue() {
          weights.slice(0, bytes).copyFrom(W1!);
          weights.slice(bytes, bytes).copyFrom(W2!);
        },
      }],
      steps: [step, joined(site, { gate: sums, up, ld: 2 * n })],
    };
  },
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<SwigluPoint>[] = [
  ...[cublas, merged],
  fused,
];

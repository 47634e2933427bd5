/**
 * The CUDA kernels of {@linkcode swiglu}: two products of cuBLAS and a kernel that joins them, and
 * all in one launch.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i64 } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { blasOf } from "../../common/blas.ts";
import { launch } from "../../common/launch.ts";
import { swiglu, type SwigluPoint } from "../op.ts";
import { fused } from "./swiglu.ts";

/** Threads of a block of `silu.cu`, and elements of a thread. */
const SILU = { threads: 256, each: 8 };

function siluOf({ type }: SwigluPoint): Build {
  return {
    source: new URL("./silu.cu", import.meta.url),
    defines: { TYPE: type },
  };
}

const cublas: Kernel<SwigluPoint> = defineKernel(swiglu, {
  name: "cublas",
  backend: "cuda",
  idea:
    "two products of the library, then silu(gate) * up by a kernel of its own",
  builds: (point) => [siluOf(point)],
  prepare(site) {
    const { point, operands, device, alloc } = site;
    const { m, n, k, type } = point;
    const { X, W1, W2, C } = operands;
    const blas = blasOf(device);
    const [gate, up] = [W1!, W2!].map((memory) => {
      const sums = alloc(m * n * BYTES[type]);
      const step = blas.gemm({
        ...{ m, n, k },
        a: { memory: X!, type, ld: k },
        b: { memory, type, ld: k, transposed: true },
        c: { memory: sums, type, ld: n },
      });
      return { sums, step };
    });
    const blocks = Math.ceil(m * n / SILU.threads / SILU.each);
    return {
      steps: [
        gate!.step,
        up!.step,
        launch(site, siluOf(point), {
          args: [gate!.sums, up!.sums, C, i64(m * n)],
          shape: { grid: [blocks, 1, 1], block: [SILU.threads, 1, 1] },
        }),
      ],
    };
  },
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<SwigluPoint>[] = [cublas, fused];

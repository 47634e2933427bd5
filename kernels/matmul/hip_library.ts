/**
 * The HIP kernels of {@linkcode matmul} that call AMD's libraries.
 *
 * @module
 */

import type { Blas, Gemm } from "../../bench/blas.ts";
import { BYTES } from "../../bench/dtype.ts";
import { CaseError } from "../../bench/errors.ts";
import type { Values } from "../../bench/grid.ts";
import { defineKernel, type Kernel } from "../../bench/kernel.ts";
import { hipBuilds, hipEpilogueStep, hipSumSplitStep } from "./hip_steps.ts";
import { noSplit } from "./library.ts";
import { tooLarge } from "./limits.ts";
import { matmul, type MatmulPoint } from "./op.ts";
import { inductorSplits } from "./splits.ts";
import { partialBytes, type Site } from "./steps.ts";

/** As PyTorch gives hipBLASLt on gfx94x. */
const WORKSPACE = 76 << 20;
/** How many splits Inductor tries. */
const SPLITS = 10;

/** What PyTorch runs eagerly: a product, then its epilogue. */
export const hipblas: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "hipblas",
  backend: "hip",
  idea: "the library's product, then the epilogue as a kernel of its own",
  unsupported: tooLarge,
  builds: (point) =>
    point.epilogue === "none" ? [] : [hipBuilds.epilogue(point)],
  prepare(site) {
    const { m, n, type, epilogue } = site.point;
    const blas = blasOf(site);
    if (epilogue === "none") return { steps: [blas.gemm(gemmOf(site))] };
    const product = site.alloc(m * n * BYTES[type]);
    return {
      steps: [
        blas.gemm({ ...gemmOf(site), c: { memory: product, type, ld: n } }),
        hipEpilogueStep(site, product, n),
      ],
    };
  },
});

/** The library's own fusion. */
export const hipblaslt: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "hipblaslt",
  backend: "hip",
  idea: "the library's fused epilogue, by its first heuristic",
  prepare(site) {
    const blas = blasOf(site);
    if (!blas.fused) {
      throw new CaseError(
        "unsupported",
        `${blas.name} ${blas.version} has no fused products: hipBLASLt was not found`,
      );
    }
    const { bias } = site.operands;
    const [choice] = blas.fused({
      ...gemmOf(site),
      epilogue: site.point.epilogue,
      ...(bias ? { bias } : {}),
      workspace: site.alloc(WORKSPACE),
    }, 1);
    if (!choice) {
      throw new CaseError("unsupported", "hipBLASLt proposes no algorithm");
    }
    return { steps: [choice.step] };
  },
});

/** What Inductor's decompose-k lowers to. */
export const bmmSumHip: Kernel<MatmulPoint> = defineKernel<
  MatmulPoint,
  Values & { readonly SPLIT: number }
>(matmul, {
  name: "bmm-sum",
  backend: "hip",
  idea: "K slices as a batch of the library's products, then one fused sum",
  unsupported: (point) =>
    tooLarge(point) ??
      (inductorSplits(point, SPLITS).length > 0 ? undefined : noSplit(point)),
  configs: (point) => inductorSplits(point, SPLITS).map((SPLIT) => ({ SPLIT })),
  builds: (point) => [hipBuilds.sumSplit(point)],
  prepare(site) {
    const { point, config } = site;
    const { m, n, k, ldb, layout } = point;
    const slice = k / config.SPLIT;
    const partials = site.alloc(partialBytes(point, config.SPLIT));
    const { a, b } = gemmOf(site);
    return {
      steps: [
        blasOf(site).gemm({
          ...{ m, n, k: slice, batch: config.SPLIT },
          a: { ...a, stride: slice },
          b: { ...b, stride: layout === "nn" ? slice * ldb : slice },
          c: { memory: partials, type: "f32", ld: n, stride: m * n },
        }),
        hipSumSplitStep(site, config.SPLIT, { partials, fused: true }),
      ],
    };
  },
});

function gemmOf({ point, operands }: Site): Gemm {
  const { m, n, k, type, layout, lda, ldb, ldc } = point;
  return {
    ...{ m, n, k },
    a: { memory: operands.A!, type, ld: lda },
    b: { memory: operands.B!, type, ld: ldb, transposed: layout === "nt" },
    c: { memory: operands.C!, type, ld: ldc },
  };
}

/** The library. @throws {CaseError} `unsupported`, where there is none. */
function blasOf({ device }: Site): Blas {
  if (device.blas) return device.blas;
  throw new CaseError(
    "unsupported",
    device.blasReason ?? "the device has no matrix library",
  );
}

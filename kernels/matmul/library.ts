/**
 * The CUDA kernels of {@linkcode matmul} that call the vendor's library.
 *
 * @module
 */

import type { Blas, Gemm } from "../../bench/blas.ts";
import { BYTES } from "../../bench/dtype.ts";
import { CaseError } from "../../bench/errors.ts";
import type { Values } from "../../bench/grid.ts";
import { type Context, defineKernel, type Kernel } from "../../bench/kernel.ts";
import { tooLarge } from "./limits.ts";
import { matmul, type MatmulPoint } from "./op.ts";
import { inductorSplits } from "./splits.ts";
import { builds, epilogueStep, partialBytes, sumSplitStep } from "./steps.ts";

/** As PyTorch gives cuBLASLt on Hopper. */
const WORKSPACE = 32 << 20;
/** How many splits Inductor tries. */
const SPLITS = 10;

/** What PyTorch runs eagerly: a product, then its epilogue. */
export const cublas: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "cublas",
  backend: "cuda",
  idea: "the library's product, then the epilogue as a kernel of its own",
  unsupported: tooLarge,
  builds: (point) => point.epilogue === "none" ? [] : [builds.epilogue(point)],
  prepare(site) {
    const { m, n, type, epilogue } = site.point;
    const blas = blasOf(site);
    if (epilogue === "none") return { steps: [blas.gemm(gemmOf(site))] };
    const product = site.alloc(m * n * BYTES[type]);
    return {
      steps: [
        blas.gemm({ ...gemmOf(site), c: { memory: product, type, ld: n } }),
        epilogueStep(site, product, n),
      ],
    };
  },
});

/** The library's own fusion. */
export const cublaslt: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "cublaslt",
  backend: "cuda",
  idea: "the library's fused epilogue, by its first heuristic",
  prepare(site) {
    const { point, operands } = site;
    const blas = blasOf(site);
    if (!blas.fused) {
      throw new CaseError(
        "unsupported",
        `${blas.name} ${blas.version} has no fused products: cuBLASLt was not found`,
      );
    }
    const [choice] = blas.fused({
      ...gemmOf(site),
      epilogue: point.epilogue,
      ...(operands.bias ? { bias: operands.bias } : {}),
      workspace: site.alloc(WORKSPACE),
    }, 1);
    if (!choice) {
      throw new CaseError("unsupported", "cuBLASLt proposes no algorithm");
    }
    return { steps: [choice.step] };
  },
});

/** What Inductor's decompose-k lowers to. */
export const bmmSum: Kernel<MatmulPoint> = defineKernel<
  MatmulPoint,
  Values & { readonly SPLIT: number }
>(matmul, {
  name: "bmm-sum",
  backend: "cuda",
  idea: "K slices as a batch of the library's products, then one fused sum",
  unsupported: (point) =>
    tooLarge(point) ??
      (inductorSplits(point, SPLITS).length > 0 ? undefined : noSplit(point)),
  configs: (point) => inductorSplits(point, SPLITS).map((SPLIT) => ({ SPLIT })),
  rules: [
    ({ k }, { SPLIT }) =>
      k % SPLIT === 0 ? undefined : `K=${k} is no multiple of SPLIT=${SPLIT}`,
  ],
  builds: (point) => [builds.sumSplit(point)],
  prepare(site) {
    const { point, config } = site;
    const { m, n, k, ldb, layout } = point;
    const slice = k / config.SPLIT;
    const partials = site.alloc(partialBytes(point, config.SPLIT));
    const { a, b } = gemmOf(site);
    return {
      steps: [
        blasOf(site).gemm({
          m,
          n,
          k: slice,
          batch: config.SPLIT,
          a: { ...a, stride: slice },
          b: { ...b, stride: layout === "nn" ? slice * ldb : slice },
          c: { memory: partials, type: "f32", ld: n, stride: m * n },
        }),
        sumSplitStep(site, config.SPLIT, { partials, fused: true }),
      ],
    };
  },
});

/** Why K cannot be cut as Inductor does. */
export function noSplit({ m, n, k }: MatmulPoint): string {
  return `no split of K=${k} is legal: it takes a divisor of K from 2 to min(K/M, K/N) = ${
    Math.min(Math.floor(k / m), Math.floor(k / n))
  } with slices of at least 128`;
}

function gemmOf(
  { point, operands }: Context<MatmulPoint, Values>,
): Gemm {
  const { m, n, k, type, layout, lda, ldb, ldc } = point;
  return {
    m,
    n,
    k,
    a: { memory: operands.A!, type, ld: lda },
    b: { memory: operands.B!, type, ld: ldb, transposed: layout === "nt" },
    c: { memory: operands.C!, type, ld: ldc },
  };
}

/** The library. @throws {CaseError} `unsupported`, where there is none. */
function blasOf({ device }: Context<MatmulPoint, Values>): Blas {
  if (device.blas) return device.blas;
  throw new CaseError(
    "unsupported",
    device.blasReason ?? "the device has no matrix library",
  );
}

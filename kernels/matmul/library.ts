/**
 * The CUDA kernels of {@linkcode matmul} that call the vendor's library.
 *
 * @module
 */

import type { Blas, FusedGemm, Gemm } from "../../bench/blas.ts";
import type { Device } from "../../bench/device.ts";
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
    const [choice] = fusedOf(site.device).fused(fusedGemmOf(site), 1);
    if (!choice) {
      throw new CaseError("unsupported", "cuBLASLt proposes no algorithm");
    }
    return { steps: [choice.step] };
  },
});

/** The same product by whichever of the library's algorithms is fastest here. */
export const cublasltTuned: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "cublaslt-tuned",
  backend: "cuda",
  idea:
    "the library's fused epilogue, by a search of its algorithms and splits",
  offers(point, device) {
    // Aligned as operands are, which are not there yet; nothing is launched.
    using memory = device.alloc(WORKSPACE);
    const operands = { A: memory, B: memory, C: memory, bias: memory };
    const gemm: FusedGemm = {
      ...gemmOf({ point, operands }),
      ...{ epilogue: point.epilogue, bias: memory, workspace: memory },
    };
    return fusedOf(device).algorithms(gemm);
  },
  prepare(site) {
    const { fused, fusedBy } = fusedOf(site.device);
    const gemm = fusedGemmOf(site);
    // Without a description it is the default.
    const [choice] = Object.keys(site.config).length === 0
      ? fused(gemm, 1)
      : [fusedBy(gemm, site.config)];
    return { steps: [choice!.step] };
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
  { point, operands }: Pick<
    Context<MatmulPoint, Values>,
    "point" | "operands"
  >,
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

function fusedGemmOf(site: Context<MatmulPoint, Values>): FusedGemm {
  const { bias } = site.operands;
  return {
    ...gemmOf(site),
    epilogue: site.point.epilogue,
    ...(bias ? { bias } : {}),
    workspace: site.alloc(WORKSPACE),
  };
}

/** The library. @throws {CaseError} `unsupported`, where there is none. */
function blasOf({ device }: { readonly device: Device }): Blas {
  if (device.blas) return device.blas;
  throw new CaseError(
    "unsupported",
    device.blasReason ?? "the device has no matrix library",
  );
}

/** The library's fused products. @throws {CaseError} `unsupported`, where it has none. */
function fusedOf(
  device: Device,
): Required<Pick<Blas, "fused" | "algorithms" | "fusedBy">> {
  const { name, version, fused, algorithms, fusedBy } = blasOf({ device });
  if (fused && algorithms && fusedBy) return { fused, algorithms, fusedBy };
  throw new CaseError(
    "unsupported",
    `${name} ${version} has no fused products: cuBLASLt was not found`,
  );
}

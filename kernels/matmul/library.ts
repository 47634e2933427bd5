/**
 * The kernels of {@linkcode matmul} that call a vendor's library: a product, then its
 * epilogue; the library's own fusion; a search of its algorithms; a batch of K slices.
 *
 * @module
 */

import type { FusedGemm, Gemm } from "../../bench/device/blas.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../bench/model/kernel_spec.ts";
import { blasOf, fusedBlasOf } from "../common/blas.ts";
import {
  type DecomposeBackend,
  DecomposeSteps,
  partialBytes,
  type Tile,
} from "../common/decompose_k.ts";
import { equalSlices, inductorSplits, noSplit } from "../common/splits.ts";
import { matmul } from "./op.ts";
import { type MatmulPoint, tooLarge } from "./point.ts";

/** The number of splits that Inductor tries. */
const SPLITS = 10;

/** A vendor's libraries. */
interface Vendor {
  /** The plain library, as its kernel is called. */
  readonly plain: string;
  /** The library with fused products, as its kernel is called, and as people write it. */
  readonly fused: string;
  readonly fusedTitle: string;
  /** Bytes of workspace of the fused products. */
  readonly workspaceBytes: number;
  /** The library's word for what a search goes through. */
  readonly searched: string;
}

/**
 * The kernels that call the libraries of `vendor` on `own`'s backend: what PyTorch runs eagerly (a
 * product, then its epilogue), the library's own fusion, the same by whichever algorithm is
 * fastest here, and what Inductor's decompose-k lowers to.
 */
export function libraryKernels<T extends Tile>(
  own: DecomposeBackend<T>,
  vendor: Vendor,
): readonly Kernel<MatmulPoint>[] {
  const { backend } = own;
  const { workspaceBytes, fusedTitle } = vendor;
  const steps = new DecomposeSteps(own);
  const fusedGemmOf = (site: Context<MatmulPoint, Values>): FusedGemm => {
    const { bias } = site.operands;
    return {
      ...gemmOf(site),
      epilogue: site.point.epilogue,
      ...(bias ? { bias } : {}),
      workspace: site.alloc(workspaceBytes),
    };
  };
  const plain = defineKernel(matmul, {
    name: vendor.plain,
    backend,
    idea: "the library's product, then the epilogue as a kernel of its own",
    unsupported: tooLarge,
    builds: (point) =>
      point.epilogue === "none" ? [] : [steps.build("epilogue", point)],
    prepare(site) {
      const { m, n, type, epilogue } = site.point;
      const blas = blasOf(site.device);
      if (epilogue === "none") return { steps: [blas.gemm(gemmOf(site))] };
      const product = site.alloc(m * n * BYTES[type]);
      return {
        steps: [
          blas.gemm({ ...gemmOf(site), c: { memory: product, type, ld: n } }),
          steps.epilogue(site, product, n),
        ],
      };
    },
  });
  const fused = defineKernel(matmul, {
    name: vendor.fused,
    backend,
    idea: "the library's fused epilogue, by its first heuristic",
    prepare(site) {
      const [choice] = fusedBlasOf(site.device, fusedTitle).fused(
        fusedGemmOf(site),
        1,
      );
      return { steps: [choice!.step] };
    },
  });
  const tuned = defineKernel(matmul, {
    name: `${vendor.fused}-tuned`,
    backend,
    idea: `the library's fused epilogue, by a search of its ${vendor.searched}`,
    offers(point, device) {
      // Aligned as operands are, which are not there yet; nothing is launched.
      using memory = device.alloc(workspaceBytes);
      const operands = { A: memory, B: memory, C: memory, bias: memory };
      const gemm: FusedGemm = {
        ...gemmOf({ point, operands }),
        ...{ epilogue: point.epilogue, bias: memory, workspace: memory },
      };
      return fusedBlasOf(device, fusedTitle).algorithms(gemm);
    },
    prepare(site) {
      const { fused, fusedBy } = fusedBlasOf(site.device, fusedTitle);
      const gemm = fusedGemmOf(site);
      // Without a description it is the default.
      const [choice] = Object.keys(site.config).length === 0
        ? fused(gemm, 1)
        : [fusedBy(gemm, site.config)];
      return { steps: [choice!.step] };
    },
  });
  const bmmSum = defineKernel<
    MatmulPoint,
    Values & { readonly SPLIT: number }
  >(matmul, {
    name: "bmm-sum",
    backend,
    idea: "K slices as a batch of the library's products, then one fused sum",
    unsupported: (point) =>
      tooLarge(point) ??
        (inductorSplits(point, SPLITS).length > 0 ? undefined : noSplit(point)),
    configs: (point) =>
      inductorSplits(point, SPLITS).map((SPLIT) => ({ SPLIT })),
    rules: [equalSlices],
    builds: (point) => [steps.build("sum_split", point)],
    prepare(site) {
      const { point, config } = site;
      const { m, n, k, ldb, layout } = point;
      const slice = k / config.SPLIT;
      const partials = site.alloc(partialBytes(point, config.SPLIT));
      const { a, b } = gemmOf(site);
      return {
        steps: [
          blasOf(site.device).gemm({
            ...{ m, n, k: slice, batch: config.SPLIT },
            a: { ...a, stride: slice },
            b: { ...b, stride: layout === "nn" ? slice * ldb : slice },
            c: { memory: partials, type: "f32", ld: n, stride: m * n },
          }),
          steps.sumSplit(site, config.SPLIT, { partials, fused: true }),
        ],
      };
    },
  });
  return [plain, fused, tuned, bmmSum];
}

function gemmOf(
  { point, operands }: Pick<Context<MatmulPoint, Values>, "point" | "operands">,
): Gemm {
  const { m, n, k, type, layout, lda, ldb, ldc } = point;
  return {
    ...{ m, n, k },
    a: { memory: operands.A!, type, ld: lda },
    b: { memory: operands.B!, type, ld: ldb, transposed: layout === "nt" },
    c: { memory: operands.C!, type, ld: ldc },
  };
}

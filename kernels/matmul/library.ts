/**
 * The kernels of {@linkcode matmul} that call a vendor's library: a product, then its
 * epilogue; the library's own fusion; a search of its algorithms; a batch of K slices.
 *
 * @module
 */

import type { Gemm } from "../../bench/device/blas.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../bench/model/kernel_spec.ts";
import { blasOf, fusedKernels, type FusedLibrary } from "../common/blas.ts";
import {
  type DecomposeBackend,
  DecomposeSteps,
  partialBytes,
  type Tile,
} from "../common/decompose_k.ts";
import { equalSlices, inductorSplits, noSplit } from "../common/splits.ts";
import { matmul } from "./op.ts";
import { type MatmulPoint, tooLarge, typesOf } from "./point.ts";

/** The number of splits that Inductor tries. */
const SPLITS = 10;

/** A vendor's libraries. */
interface Vendor extends
  Pick<
    FusedLibrary<never>,
    "name" | "title" | "workspaceBytes" | "searched"
  > {
  /** The plain library, as its kernel is called. */
  readonly plain: string;
}

/** The library's product, then the epilogue: what PyTorch runs eagerly. */
export function plainLibrary<T extends Tile>(
  own: DecomposeBackend<T>,
  name: string,
): Kernel<MatmulPoint> {
  const { backend } = own;
  const steps = new DecomposeSteps(own);
  return defineKernel(matmul, {
    name,
    backend,
    idea: "the library's product, then the epilogue as a kernel of its own",
    library: true,
    takes: ["types"],
    unsupported: (point) => tooLarge(point) ?? wide(point, backend),
    builds: (point) => point.epilogue === "none" ? [] : [steps.sums(point)],
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
}

/**
 * The kernels that call the libraries of a vendor on `own`'s backend: what PyTorch runs eagerly (a
 * product, then its epilogue), the library's own fusion, the same by whichever algorithm is
 * fastest here, and what Inductor's decompose-k lowers to.
 */
export function libraryKernels<T extends Tile>(
  own: DecomposeBackend<T>,
  { plain: name, ...vendor }: Vendor,
): readonly Kernel<MatmulPoint>[] {
  const { backend } = own;
  const steps = new DecomposeSteps(own);
  const plain = plainLibrary(own, name);
  const fused = fusedKernels(matmul, {
    ...vendor,
    backend,
    product: "the library's fused epilogue",
    gemmOf: (point, operands) => ({
      ...gemmOf({ point, operands }),
      epilogue: point.epilogue,
      ...(operands.bias ? { bias: operands.bias } : {}),
    }),
  });
  const bmmSum = defineKernel<
    MatmulPoint,
    Values & { readonly SPLIT: number }
  >(matmul, {
    name: "bmm-sum",
    backend,
    idea: "split-K as a batched GEMM of the library, then one fused sum",
    library: true,
    unsupported: (point) =>
      tooLarge(point) ??
        (inductorSplits(point, SPLITS).length > 0 ? undefined : noSplit(point)),
    configs: (point) =>
      inductorSplits(point, SPLITS).map((SPLIT) => ({ SPLIT })),
    rules: [equalSlices],
    builds: (point) => [steps.sums(point)],
    prepare(site) {
      const { point, config } = site;
      const { m, n, k, ldb, layout } = point;
      const slice = k / config.SPLIT;
      const partials = site.alloc(partialBytes(point, config.SPLIT));
      const { a, b } = gemmOf(site);
      return {
        steps: [
          blasOf(site.device).gemm({
            m,
            n,
            k: slice,
            batch: config.SPLIT,
            a: { ...a, stride: slice },
            b: { ...b, stride: layout === "nn" ? slice * ldb : slice },
            c: { memory: partials, type: "f32", ld: n, stride: m * n },
          }),
          steps.sumSplit(site, config.SPLIT, { partials, fused: true }),
        ],
      };
    },
  });
  return [plain, ...fused, bmmSum];
}

/** Returns why the library has no product of a point's types: of one type it has, also in fp32. */
function wide(point: MatmulPoint, backend: string): string | undefined {
  const { a, b, c } = typesOf(point);
  if (a === b && a === c) return undefined;
  const isWide = a === b && c === "f32" && backend !== "metal";
  return isWide && point.epilogue === "none"
    ? undefined
    : `the library is asked for no product of A in ${a}, B in ${b} and C in ${c} with the epilogue ${point.epilogue}`;
}

function gemmOf(
  { point, operands }: Pick<Context<MatmulPoint, Values>, "point" | "operands">,
): Gemm {
  const { m, n, k, layout, lda, ldb, ldc } = point;
  const { a, b, c } = typesOf(point);
  const transposed = layout === "nt";
  return {
    m,
    n,
    k,
    a: { memory: operands.A!, type: a, ld: lda },
    b: { memory: operands.B!, type: b, ld: ldb, transposed },
    c: { memory: operands.C!, type: c, ld: ldc },
  };
}

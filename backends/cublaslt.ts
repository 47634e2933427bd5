/**
 * NVIDIA's matrix library with epilogues and a list of algorithms to choose from.
 *
 * Column-major as cuBLAS is, and called the same way: a row-major C[m,n] is asked for as
 * Cᵀ[n,m]. Its rows are then the n columns of C, so the library's bias (one value a row)
 * is a bias of n values here.
 *
 * @module
 */

import type { FusedChoice, FusedGemm } from "../bench/blas.ts";
import type { Step } from "../bench/device.ts";
import { CaseError } from "../bench/errors.ts";
import { checkTypes, hostOne, hostZero } from "./cublas_values.ts";
import {
  type Algo,
  algoName,
  readResults,
  resultRoom,
} from "./cublaslt_algo.ts";
import type { Cublaslt } from "./cublaslt_library.ts";
import {
  createPreference,
  describeProduct,
  type Product,
} from "./cublaslt_product.ts";
import { out32, out64 } from "./ffi.ts";

/** A library's handle, bound to one stream. Descriptors of its steps live as long. */
export interface CublasltHandle extends Disposable {
  fused(gemm: FusedGemm, limit: number): readonly FusedChoice[];
}

/** Creates a handle whose work goes to `stream`. */
export function createCublaslt(
  library: Cublaslt,
  stream: bigint,
): CublasltHandle {
  const handle = out64((to) => library.cublasLtCreate(to));
  const releases: (() => void)[] = [];
  return {
    fused(gemm, limit) {
      checkTypes("cuBLASLt", gemm);
      const own = (release: () => void) => void releases.push(release);
      const product = describeProduct(library, gemm, own);
      const algos = propose(library, handle, { gemm, product, limit });
      return algos.map((algo) => ({
        name: algoName(library, algo),
        workspaceBytes: algo.workspaceBytes,
        step: matmulStep(library, { handle, stream, gemm, product, algo }),
      }));
    },
    [Symbol.dispose]() {
      for (const release of releases.splice(0).reverse()) release();
      library.cublasLtDestroy(handle);
    },
  };
}

interface Question {
  readonly gemm: FusedGemm;
  readonly product: Product;
  readonly limit: number;
}

function propose(
  library: Cublaslt,
  handle: bigint,
  { gemm, product, limit }: Question,
): readonly Algo[] {
  const releases: (() => void)[] = [];
  const own = (release: () => void) => void releases.push(release);
  try {
    const preference = createPreference(library, gemm, own);
    const { description, first, second, output } = product;
    const results = resultRoom(limit);
    const count = out32((to) =>
      library.cublasLtMatmulAlgoGetHeuristic(
        ...[handle, description] as const,
        ...[first, second, output, output] as const,
        ...[preference, limit] as const,
        ...[results, to] as const,
      )
    );
    const algos = readResults(results, count);
    if (algos.length > 0) return algos;
  } finally {
    for (const release of releases) release();
  }
  const { m, n, k, a, epilogue } = gemm;
  throw new CaseError(
    "unsupported",
    `cuBLASLt proposes no algorithm for ${m}x${n}x${k} in ${a.type} with epilogue ${epilogue}`,
  );
}

interface Matmul {
  readonly handle: bigint;
  readonly stream: bigint;
  readonly gemm: FusedGemm;
  readonly product: Product;
  readonly algo: Algo;
}

function matmulStep(
  library: Cublaslt,
  { handle, stream, gemm, product, algo }: Matmul,
): Step {
  const { description, first, second, output } = product;
  const [a, b, c] = [gemm.a, gemm.b, gemm.c].map(({ memory }) =>
    memory.address
  ) as [bigint, bigint, bigint];
  const [one, zero] = [hostOne(), hostZero()];
  const workspace = gemm.workspace?.address ?? 0n;
  const bytes = BigInt(algo.workspaceBytes);
  return {
    label: "cublasLtMatmul",
    capturable: true,
    // deno-fmt-ignore: one operand a line, as in the library's table
    enqueue: () =>
      library.cublasLtMatmul(
        handle, description, one,
        b, first,
        a, second, zero,
        c, output,
        c, output,
        algo.address, workspace, bytes,
        stream,
      ),
  };
}

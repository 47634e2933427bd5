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
import { formatValues, type Values } from "../bench/grid.ts";
import {
  type Algo,
  describeAlgo,
  readResults,
  resultRoom,
} from "./cublaslt_algo.ts";
import type { Cublaslt } from "./cublaslt_library.ts";
import { createPreference, describeProduct } from "./cublaslt_product.ts";
import {
  algorithmsOf,
  findAlgorithm,
  PROPOSALS,
  type Site,
} from "./cublaslt_tuning.ts";
import { out32, out64 } from "./ffi.ts";

/** A library's handle, bound to one stream. Descriptors of its steps live as long. */
export interface CublasltHandle extends Disposable {
  fused(gemm: FusedGemm, limit: number): readonly FusedChoice[];
  algorithms(gemm: FusedGemm): readonly Values[];
  fusedBy(gemm: FusedGemm, algorithm: Values): FusedChoice;
}

/** Creates a handle whose work goes to `stream`. */
export function createCublaslt(
  library: Cublaslt,
  stream: bigint,
): CublasltHandle {
  const handle = out64((to) => library.cublasLtCreate(to));
  const releases: (() => void)[] = [];
  const describe = (gemm: FusedGemm, releases: (() => void)[]): Site => {
    checkTypes("cuBLASLt", gemm);
    const own = (release: () => void) => void releases.push(release);
    return {
      ...{ library, handle, gemm },
      product: describeProduct(library, gemm, own),
    };
  };
  const choice = (site: Site, algo: Algo): FusedChoice => ({
    name: formatValues(describeAlgo(library, algo)),
    workspaceBytes: algo.workspaceBytes,
    step: matmulStep(site, algo, stream),
  });
  return {
    fused(gemm, limit) {
      const site = describe(gemm, releases);
      return propose(site, limit).map((algo) => choice(site, algo));
    },
    algorithms(gemm) {
      const mine: (() => void)[] = [];
      try {
        const site = describe(gemm, mine);
        return algorithmsOf(site, propose(site, PROPOSALS));
      } finally {
        for (const release of mine.reverse()) release();
      }
    },
    fusedBy(gemm, algorithm) {
      const site = describe(gemm, releases);
      const proposals = propose(site, PROPOSALS);
      const algo = findAlgorithm(site, proposals, algorithm);
      if (algo) return choice(site, algo);
      throw new CaseError(
        "unsupported",
        `cuBLASLt has no algorithm ${formatValues(algorithm)} for ${
          titleOf(gemm)
        }: search again`,
      );
    },
    [Symbol.dispose]() {
      for (const release of releases.splice(0).reverse()) release();
      library.cublasLtDestroy(handle);
    },
  };
}

/** At most `limit` usable algorithms, in the library's order. */
function propose(
  { library, handle, gemm, product }: Site,
  limit: number,
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
  throw new CaseError(
    "unsupported",
    `cuBLASLt proposes no algorithm for ${titleOf(gemm)}`,
  );
}

function titleOf({ m, n, k, a, epilogue }: FusedGemm): string {
  return `${m}x${n}x${k} in ${a.type} with epilogue ${epilogue}`;
}

function matmulStep(
  { library, handle, gemm, product }: Site,
  algo: Algo,
  stream: bigint,
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

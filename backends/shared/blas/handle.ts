/**
 * A matrix library with epilogues and a list of algorithms to choose from.
 *
 * Column-major, so that a row-major C[m,n] is asked for as Cᵀ[n,m], operands swapped. Its
 * rows are then the n columns of C, so the library's bias (one value a row) is a bias of n
 * values here.
 *
 * @module
 */

import type { FusedChoice, FusedGemm } from "../../../bench/device/blas.ts";
import type { Step } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import { checkTypes, hostOne, hostZero } from "./gemm.ts";
import { out32, out64 } from "../ffi.ts";
import {
  type Algo,
  type LtCalls,
  type LtNumbers,
  readResults,
  resultRoom,
} from "./calls.ts";
import { createPreference, describeProduct, type Product } from "./product.ts";

/** A product, described to an opened library. */
export interface Site<L extends LtCalls> {
  readonly library: L;
  readonly handle: bigint;
  readonly gemm: FusedGemm;
  readonly product: Product;
}

/** An opened library, its numbers, and what it tells of its algorithms. */
export interface Lt<L extends LtCalls> {
  readonly library: L;
  readonly numbers: LtNumbers;
  /** The number of algorithms that a search asks the heuristic for. */
  readonly proposals: number;
  /** Describes an algorithm, so that {@linkcode Lt.find} finds it again. */
  describe(algo: Algo): Values;
  /** The descriptions of the algorithms to time, the first of `proposals` first. */
  algorithms(site: Site<L>, proposals: readonly Algo[]): readonly Values[];
  /** The algorithm that describes itself as `values`, if there is one. */
  find(
    site: Site<L>,
    proposals: readonly Algo[],
    values: Values,
  ): Algo | undefined;
}

/** A library's handle, bound to one stream. Descriptors of its steps live as long. */
export interface LtHandle extends Disposable {
  /** The library's own handle. */
  readonly handle: bigint;
  fused(gemm: FusedGemm, limit: number): readonly FusedChoice[];
  algorithms(gemm: FusedGemm): readonly Values[];
  fusedBy(gemm: FusedGemm, algorithm: Values): FusedChoice;
}

/** Creates a handle whose work goes to `stream`. */
export function createLt<L extends LtCalls>(
  lt: Lt<L>,
  stream: bigint,
): LtHandle {
  const { library, numbers } = lt;
  const handle = out64((to) => library.Create(to));
  const releases: (() => void)[] = [];
  const describe = (
    gemm: FusedGemm,
    releases: (() => void)[],
  ): Site<L> => {
    demandTypes(numbers, gemm);
    const own = (release: () => void) => void releases.push(release);
    return { library, handle, gemm, product: describeProduct(lt, gemm, own) };
  };
  const choice = (site: Site<L>, algo: Algo): FusedChoice => ({
    name: formatValues(lt.describe(algo)),
    workspaceBytes: algo.workspaceBytes,
    step: matmulStep(numbers, site, { algo, stream }),
  });
  return {
    handle,
    fused(gemm, limit) {
      const site = describe(gemm, releases);
      return propose(numbers, site, limit).map((algo) => choice(site, algo));
    },
    algorithms(gemm) {
      const mine: (() => void)[] = [];
      try {
        const site = describe(gemm, mine);
        return lt.algorithms(site, propose(numbers, site, lt.proposals));
      } finally {
        for (const release of mine.reverse()) release();
      }
    },
    fusedBy(gemm, algorithm) {
      const site = describe(gemm, releases);
      const proposals = propose(numbers, site, lt.proposals);
      const algo = lt.find(site, proposals, algorithm);
      if (algo) return choice(site, algo);
      throw new CaseError(
        "unsupported",
        `${numbers.name} has no algorithm ${formatValues(algorithm)} for ${
          titleOf(gemm)
        }: search again`,
      );
    },
    [Symbol.dispose]() {
      for (const release of releases.splice(0).reverse()) release();
      library.Destroy(handle);
    },
  };
}

/** @throws {CaseError} `unsupported`, for types that the library is not called for. */
function demandTypes({ name, desc }: LtNumbers, gemm: FusedGemm): void {
  const { a, b, c, scales } = gemm;
  if (!scales) return checkTypes(name, gemm);
  const types = [a, b, c].map(({ type }) => type).join(" ");
  if (desc.scales && types === "e4m3 e4m3 bf16") return;
  throw new CaseError(
    "unsupported",
    desc.scales
      ? `${name} is called with scales for e4m3 by e4m3 into bf16 only, not for ${types}`
      : `${name} is not called with scales: cuBLASLt is`,
  );
}

/** At most `limit` usable algorithms, in the library's order. */
function propose(
  numbers: LtNumbers,
  { library, handle, gemm, product }: Site<LtCalls>,
  limit: number,
): readonly Algo[] {
  const releases: (() => void)[] = [];
  const own = (release: () => void) => void releases.push(release);
  try {
    const preference = createPreference({ library, numbers }, gemm, own);
    const { description, first, second, output } = product;
    const results = resultRoom(numbers.result, limit);
    const count = out32((to) =>
      library.MatmulAlgoGetHeuristic(
        ...[handle, description] as const,
        ...[first, second, output, output] as const,
        ...[preference, limit] as const,
        ...[results, to] as const,
      )
    );
    const most = gemm.workspace?.bytes ?? 0;
    const algos = readResults(numbers.result, results, { count, most });
    if (algos.length > 0) return algos;
  } finally {
    for (const release of releases) release();
  }
  throw new CaseError(
    "unsupported",
    `${numbers.name} proposes no algorithm for ${titleOf(gemm)}`,
  );
}

function titleOf({ m, n, k, a, epilogue }: FusedGemm): string {
  return `${m}x${n}x${k} in ${a.type} with epilogue ${epilogue}`;
}

function matmulStep(
  { prefix }: LtNumbers,
  { library, handle, gemm, product }: Site<LtCalls>,
  { algo, stream }: { readonly algo: Algo; readonly stream: bigint },
): Step {
  const { description, first, second, output } = product;
  const [a, b, c] = [gemm.a, gemm.b, gemm.c].map(({ memory }) =>
    memory.address
  ) as [bigint, bigint, bigint];
  const [one, zero] = [hostOne(), hostZero()];
  const workspace = gemm.workspace?.address ?? 0n;
  const bytes = BigInt(algo.workspaceBytes);
  return {
    label: `${prefix}Matmul`,
    capturable: true,
    // deno-fmt-ignore: one operand a line, as in the library's table
    enqueue: () =>
      library.Matmul(
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

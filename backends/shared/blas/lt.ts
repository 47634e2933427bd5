/**
 * cuBLASLt and hipBLASLt: products with epilogues and a list of algorithms to choose from. AMD
 * took over NVIDIA's interface with a prefix and numbers of its own.
 *
 * Both are column-major, so a row-major C[m,n] is asked for as Cᵀ[n,m], operands swapped. Its
 * rows are then the n columns of C, so the library's bias (one value a row) is a bias of n
 * values here.
 *
 * @module
 */

import type {
  Blas,
  Epilogue,
  FusedChoice,
  FusedGemm,
  Matrix,
} from "../../../bench/device/blas.ts";
import type { Memory, Step } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import { out32, out64 } from "../ffi.ts";
import {
  checkTypes,
  hostScalars,
  operationOf,
  SCALE_TYPE,
  typeOf,
} from "./gemm.ts";
import {
  type Algo,
  type LtCalls,
  type LtNumbers,
  readResults,
} from "./lt_calls.ts";

/** A product, described to an opened library. */
export interface Site<L extends LtCalls> {
  readonly library: L;
  readonly handle: bigint;
  readonly gemm: FusedGemm;
  readonly description: bigint;
  /** Layouts of B, A and C, in that order: the library's A, B and C. */
  readonly layouts: readonly [bigint, bigint, bigint];
}

/** An opened library, its numbers, and what it tells of its algorithms. */
export interface Lt<L extends LtCalls> {
  readonly library: L;
  readonly numbers: LtNumbers;
  /** The number of algorithms that a search asks the heuristic for. */
  readonly proposals: number;
  /** Describes an algorithm, so that {@linkcode Lt.find} finds it again. */
  describe(algo: Algo): Values;
  /** Returns the descriptions of the algorithms to time, the first of `proposals` first. */
  algorithms(site: Site<L>, proposals: readonly Algo[]): readonly Values[];
  /** Returns the algorithm that describes itself as `values`, if there is one. */
  find(
    site: Site<L>,
    proposals: readonly Algo[],
    values: Values,
  ): Algo | undefined;
}

/** A library's handle, bound to one stream. Descriptors of its steps live as long. */
export interface LtHandle
  extends Disposable, Required<Pick<Blas, "fused" | "algorithms" | "fusedBy">> {
  /** The library's own handle. */
  readonly handle: bigint;
}

/** Creates a handle whose work goes to `stream`. */
export function createLt<L extends LtCalls>(
  lt: Lt<L>,
  stream: bigint,
): LtHandle {
  const { library, numbers } = lt;
  const handle = out64((to) => library.Create(to));
  const owned = new DisposableStack();
  owned.defer(() => library.Destroy(handle));
  const describe = (gemm: FusedGemm, stack: DisposableStack): Site<L> => {
    demandTypes(numbers, gemm);
    return { library, handle, gemm, ...describeProduct(lt, gemm, stack) };
  };
  const choice = (site: Site<L>, algo: Algo): FusedChoice => ({
    name: formatValues(lt.describe(algo)),
    workspaceBytes: algo.workspaceBytes,
    step: matmulStep(numbers, site, { algo, stream }),
  });
  return {
    handle,
    fused(gemm, limit) {
      const site = describe(gemm, owned);
      return propose(numbers, site, limit).map((algo) => choice(site, algo));
    },
    algorithms(gemm) {
      using stack = new DisposableStack();
      const site = describe(gemm, stack);
      return lt.algorithms(site, propose(numbers, site, lt.proposals));
    },
    fusedBy(gemm, algorithm) {
      const site = describe(gemm, owned);
      const proposals = propose(numbers, site, lt.proposals);
      const algo = lt.find(site, proposals, algorithm);
      if (algo) return choice(site, algo);
      throw new CaseError(
        "unsupported",
        `${numbers.blas.name}Lt has no algorithm ${
          formatValues(algorithm)
        } for ${titleOf(gemm)}: search again`,
      );
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** @throws {CaseError} `unsupported`, for types that the library is not called for. */
function demandTypes({ blas, desc }: LtNumbers, gemm: FusedGemm): void {
  const { a, b, c, scales } = gemm;
  const name = `${blas.name}Lt`;
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

/** Returns at most `limit` usable algorithms, in the library's order. */
function propose(
  { blas, preference, result }: LtNumbers,
  { library, handle, gemm, description, layouts: [b, a, c] }: Site<LtCalls>,
  limit: number,
): readonly Algo[] {
  const limits = out64((to) => library.MatmulPreferenceCreate(to));
  using stack = new DisposableStack();
  stack.defer(() => library.MatmulPreferenceDestroy(limits));
  const set = library.MatmulPreferenceSetAttribute;
  const most = gemm.workspace?.bytes ?? 0;
  set(limits, preference.workspace, BigUint64Array.of(BigInt(most)), 8n);
  const operands = [gemm.b, gemm.a, gemm.c, gemm.c];
  for (const [i, attribute] of (preference.alignments ?? []).entries()) {
    const alignment = alignmentOf(operands[i]!.memory.address);
    set(limits, attribute, Uint32Array.of(alignment), 4n);
  }
  const room = new Uint8Array(result.bytes * limit);
  const count = out32((to) =>
    library.MatmulAlgoGetHeuristic(
      ...[handle, description, b, a, c, c] as const,
      ...[limits, limit, room, to] as const,
    )
  );
  const algos = readResults(result, room, { count, most });
  if (algos.length > 0) return algos;
  throw new CaseError(
    "unsupported",
    `${blas.name}Lt proposes no algorithm for ${titleOf(gemm)}`,
  );
}

/** Bytes of the greatest alignment that makes a difference to a library. */
const WIDEST_ALIGNMENT = 256;

/** Returns the greatest power of two that divides `address`, up to the library's default. */
function alignmentOf(address: bigint): number {
  let alignment = WIDEST_ALIGNMENT;
  while (address % BigInt(alignment) !== 0n) alignment /= 2;
  return alignment;
}

function titleOf({ m, n, k, a, epilogue }: FusedGemm): string {
  return `${m}x${n}x${k} in ${a.type} with epilogue ${epilogue}`;
}

function matmulStep(
  { blas }: LtNumbers,
  { library, handle, gemm, description, layouts }: Site<LtCalls>,
  { algo, stream }: { readonly algo: Algo; readonly stream: bigint },
): Step {
  const [layoutB, layoutA, layoutC] = layouts;
  const [a, b, c] = [gemm.a, gemm.b, gemm.c].map(({ memory }) =>
    memory.address
  ) as [bigint, bigint, bigint];
  const { one, zero } = hostScalars();
  const workspace = gemm.workspace?.address ?? 0n;
  const bytes = BigInt(algo.workspaceBytes);
  return {
    label: `${blas.prefix}LtMatmul`,
    capturable: true,
    // deno-fmt-ignore: one operand a line, as in the library's table
    enqueue: () =>
      library.Matmul(
        handle, description, one,
        b, layoutB,
        a, layoutA, zero,
        c, layoutC,
        c, layoutC,
        algo.address, workspace, bytes,
        stream,
      ),
  };
}

/** `cublasLtEpilogue_t` and `hipblasLtEpilogue_t` */
const EPILOGUE: Readonly<Record<Epilogue, number>> = {
  "none": 1,
  "relu": 2,
  "bias": 4,
  "bias+relu": 6,
};

/**
 * Describes `gemm` to the library.
 *
 * @param stack Owns the descriptors.
 * @throws {TypeError} If the epilogue needs a bias and there is none.
 */
function describeProduct(
  { library, numbers: { blas, desc, layout } }: Pick<
    Lt<LtCalls>,
    "library" | "numbers"
  >,
  gemm: FusedGemm,
  stack: DisposableStack,
): Pick<Site<LtCalls>, "description" | "layouts"> {
  const { m, n, k, a, b, c, batch = 1, epilogue } = gemm;
  const description = out64((to) =>
    library.MatmulDescCreate(to, blas.compute32f, SCALE_TYPE)
  );
  stack.defer(() => library.MatmulDescDestroy(description));
  const set = (attribute: number, value: number) =>
    library.MatmulDescSetAttribute(
      ...[description, attribute, Int32Array.of(value), 4n] as const,
    );
  const point = (attribute: number, { address }: Memory) =>
    library.MatmulDescSetAttribute(
      ...[description, attribute, BigUint64Array.of(address), 8n] as const,
    );
  set(desc.transA, operationOf(blas, b));
  set(desc.transB, operationOf(blas, a));
  set(desc.epilogue, EPILOGUE[epilogue]);
  if (epilogue.startsWith("bias")) {
    if (!gemm.bias) {
      throw new TypeError(
        `Cannot fuse the epilogue ${epilogue}: no bias was given`,
      );
    }
    point(desc.biasPointer, gemm.bias);
    if (desc.biasType !== undefined) set(desc.biasType, typeOf(c));
  }
  if (gemm.scales && desc.scales) {
    const { kind, a, b } = gemm.scales;
    const { pointerA, pointerB, modeA, modeB, modes } = desc.scales;
    const [ofA, ofB] = modes[kind];
    point(pointerA, b);
    point(pointerB, a);
    set(modeA, ofB);
    set(modeB, ofA);
  }
  /** Rows as they are stored, each `matrix.ld` after the one before. */
  const describe = (matrix: Matrix, rows: number, cols: number) => {
    // A row here is a column there.
    const made = out64((to) =>
      library.MatrixLayoutCreate(
        ...[to, typeOf(matrix), BigInt(cols), BigInt(rows)] as const,
        BigInt(matrix.ld),
      )
    );
    stack.defer(() => library.MatrixLayoutDestroy(made));
    if (batch > 1) {
      const stride = BigInt64Array.of(BigInt(matrix.stride ?? 0));
      const set = library.MatrixLayoutSetAttribute;
      set(made, layout.batchCount, Int32Array.of(batch), 4n);
      set(made, layout.batchStride, stride, 8n);
    }
    return made;
  };
  return {
    description,
    layouts: [
      b.transposed ? describe(b, n, k) : describe(b, k, n),
      a.transposed ? describe(a, k, m) : describe(a, m, k),
      describe(c, m, n),
    ],
  };
}

/**
 * A row-major product with its epilogue, in cuBLASLt's descriptors.
 *
 * @module
 */

import type { Epilogue, FusedGemm, Matrix } from "../bench/blas.ts";
import {
  COMPUTE_32F,
  operationOf,
  SCALE_TYPE,
  typeOf,
} from "./cublas_values.ts";
import type { Cublaslt } from "./cublaslt_library.ts";
import { out64 } from "./ffi.ts";

/** `cublasLtMatmulDescAttributes_t` */
const DESC = { transA: 3, transB: 4, epilogue: 7, biasPointer: 8 } as const;
/** `cublasLtMatrixLayoutAttribute_t` */
const LAYOUT = { batchCount: 5, batchStride: 6 } as const;
/** `cublasLtMatmulPreferenceAttributes_t` */
const PREFERENCE = { workspace: 1, alignments: [5, 6, 7, 8] } as const;
/** `cublasLtEpilogue_t` */
const EPILOGUE: Readonly<Record<Epilogue, number>> = {
  "none": 1,
  "relu": 2,
  "bias": 4,
  "bias+relu": 6,
};

/** Bytes of the greatest alignment that makes a difference to the library. */
const WIDEST_ALIGNMENT = 256;

/** Handles of a product's parts. The library's A is B here, its B is A: see cublaslt.ts. */
export interface Product {
  readonly description: bigint;
  readonly first: bigint;
  readonly second: bigint;
  readonly output: bigint;
}

/** Where things that must be released go, in the order in which they were made. */
export type Owner = (release: () => void) => void;

/**
 * Describes `gemm` to the library.
 *
 * @throws {TypeError} If the epilogue needs a bias and there is none.
 */
export function describeProduct(
  library: Cublaslt,
  gemm: FusedGemm,
  own: Owner,
): Product {
  const { m, n, k, a, b, c, batch = 1 } = gemm;
  const description = out64((to) =>
    library.cublasLtMatmulDescCreate(to, COMPUTE_32F, SCALE_TYPE)
  );
  own(() => library.cublasLtMatmulDescDestroy(description));
  const set = (attribute: number, value: Int32Array | BigUint64Array) =>
    library.cublasLtMatmulDescSetAttribute(
      description,
      attribute,
      value as Int32Array<ArrayBuffer>,
      BigInt(value.byteLength),
    );
  set(DESC.transA, new Int32Array([operationOf(b)]));
  set(DESC.transB, new Int32Array([operationOf(a)]));
  set(DESC.epilogue, new Int32Array([EPILOGUE[gemm.epilogue]]));
  if (gemm.epilogue.startsWith("bias")) {
    if (!gemm.bias) {
      throw new TypeError(
        `Cannot fuse the epilogue ${gemm.epilogue}: no bias was given`,
      );
    }
    set(DESC.biasPointer, new BigUint64Array([gemm.bias.address]));
  }
  const layout = (matrix: Matrix, rows: number, cols: number) =>
    createLayout(library, { matrix, rows, cols, batch }, own);
  return {
    description,
    first: b.transposed ? layout(b, n, k) : layout(b, k, n),
    second: a.transposed ? layout(a, k, m) : layout(a, m, k),
    output: layout(c, m, n),
  };
}

interface Stored {
  readonly matrix: Matrix;
  /** Of the rows as they are stored, each `matrix.ld` after the one before. */
  readonly rows: number;
  readonly cols: number;
  readonly batch: number;
}

function createLayout(
  library: Cublaslt,
  { matrix, rows, cols, batch }: Stored,
  own: Owner,
): bigint {
  // A row here is a column there.
  const layout = out64((to) =>
    library.cublasLtMatrixLayoutCreate(
      to,
      typeOf(matrix),
      BigInt(cols),
      BigInt(rows),
      BigInt(matrix.ld),
    )
  );
  own(() => library.cublasLtMatrixLayoutDestroy(layout));
  if (batch > 1) {
    const { batchCount, batchStride } = LAYOUT;
    const count = new Int32Array([batch]);
    const stride = new BigInt64Array([BigInt(matrix.stride ?? 0)]);
    library.cublasLtMatrixLayoutSetAttribute(layout, batchCount, count, 4n);
    library.cublasLtMatrixLayoutSetAttribute(layout, batchStride, stride, 8n);
  }
  return layout;
}

/** Creates what limits the choice: the workspace, and how the operands are aligned. */
export function createPreference(
  library: Cublaslt,
  { a, b, c, workspace }: FusedGemm,
  own: Owner,
): bigint {
  const preference = out64((to) => library.cublasLtMatmulPreferenceCreate(to));
  own(() => library.cublasLtMatmulPreferenceDestroy(preference));
  library.cublasLtMatmulPreferenceSetAttribute(
    preference,
    PREFERENCE.workspace,
    new BigUint64Array([BigInt(workspace?.bytes ?? 0)]),
    8n,
  );
  for (const [i, { memory }] of [b, a, c, c].entries()) {
    library.cublasLtMatmulPreferenceSetAttribute(
      preference,
      PREFERENCE.alignments[i]!,
      new Uint32Array([alignmentOf(memory.address)]),
      4n,
    );
  }
  return preference;
}

/** Returns the greatest power of two that divides `address`, up to the library's default. */
function alignmentOf(address: bigint): number {
  let alignment = WIDEST_ALIGNMENT;
  while (address % BigInt(alignment) !== 0n) alignment /= 2;
  return alignment;
}

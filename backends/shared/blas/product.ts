/**
 * A row-major product with its epilogue, in a library's descriptors.
 *
 * @module
 */

import type {
  Epilogue,
  FusedGemm,
  Matrix,
} from "../../../bench/device/blas.ts";
import { operationOf, SCALE_TYPE, typeOf } from "./gemm.ts";
import { out64 } from "../ffi.ts";
import type { LtCalls, LtNumbers } from "./calls.ts";

/** `cublasLtEpilogue_t` and `hipblasLtEpilogue_t` */
const EPILOGUE: Readonly<Record<Epilogue, number>> = {
  "none": 1,
  "relu": 2,
  "bias": 4,
  "bias+relu": 6,
};

/** Bytes of the greatest alignment that makes a difference to a library. */
const WIDEST_ALIGNMENT = 256;

/** An opened library and its numbers. */
export interface Numbered {
  readonly library: LtCalls;
  readonly numbers: LtNumbers;
}

/** Handles of a product's parts. The library's A is B here, its B is A: see handle.ts. */
export interface Product {
  readonly description: bigint;
  readonly first: bigint;
  readonly second: bigint;
  readonly output: bigint;
}

/** Takes a function that releases something, in the order in which things were made. */
export type Owner = (release: () => void) => void;

/**
 * Describes `gemm` to the library.
 *
 * @throws {TypeError} If the epilogue needs a bias and there is none.
 */
export function describeProduct(
  { library, numbers }: Numbered,
  gemm: FusedGemm,
  own: Owner,
): Product {
  const { m, n, k, a, b, c, batch = 1, epilogue } = gemm;
  const { desc, blas } = numbers;
  const description = out64((to) =>
    library.MatmulDescCreate(to, numbers.blas.compute32f, SCALE_TYPE)
  );
  own(() => library.MatmulDescDestroy(description));
  const set = (attribute: number, value: Int32Array | BigUint64Array) =>
    library.MatmulDescSetAttribute(
      description,
      attribute,
      value as Int32Array<ArrayBuffer>,
      BigInt(value.byteLength),
    );
  set(desc.transA, new Int32Array([operationOf(blas, b)]));
  set(desc.transB, new Int32Array([operationOf(blas, a)]));
  set(desc.epilogue, new Int32Array([EPILOGUE[epilogue]]));
  if (epilogue.startsWith("bias")) {
    if (!gemm.bias) {
      throw new TypeError(
        `Cannot fuse the epilogue ${epilogue}: no bias was given`,
      );
    }
    set(desc.biasPointer, new BigUint64Array([gemm.bias.address]));
    if (desc.biasType !== undefined) {
      set(desc.biasType, new Int32Array([typeOf(c)]));
    }
  }
  if (gemm.scales && desc.scales) {
    const { kind, a, b } = gemm.scales;
    const { pointerA, pointerB, modeA, modeB, modes } = desc.scales;
    const [ofA, ofB] = modes[kind];
    set(pointerA, new BigUint64Array([b.address]));
    set(pointerB, new BigUint64Array([a.address]));
    set(modeA, new Int32Array([ofB]));
    set(modeB, new Int32Array([ofA]));
  }
  const layout = (matrix: Matrix, rows: number, cols: number) =>
    createLayout({ library, numbers }, { matrix, rows, cols, batch }, own);
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
  { library, numbers }: Numbered,
  { matrix, rows, cols, batch }: Stored,
  own: Owner,
): bigint {
  // A row here is a column there.
  const layout = out64((to) =>
    library.MatrixLayoutCreate(
      to,
      typeOf(matrix),
      BigInt(cols),
      BigInt(rows),
      BigInt(matrix.ld),
    )
  );
  own(() => library.MatrixLayoutDestroy(layout));
  if (batch > 1) {
    const { batchCount, batchStride } = numbers.layout;
    const count = new Int32Array([batch]);
    const stride = new BigInt64Array([BigInt(matrix.stride ?? 0)]);
    library.MatrixLayoutSetAttribute(layout, batchCount, count, 4n);
    library.MatrixLayoutSetAttribute(layout, batchStride, stride, 8n);
  }
  return layout;
}

/** Creates what limits the choice: the workspace, and how the operands are aligned. */
export function createPreference(
  { library, numbers: { preference } }: Numbered,
  { a, b, c, workspace }: FusedGemm,
  own: Owner,
): bigint {
  const made = out64((to) => library.MatmulPreferenceCreate(to));
  own(() => library.MatmulPreferenceDestroy(made));
  library.MatmulPreferenceSetAttribute(
    made,
    preference.workspace,
    new BigUint64Array([BigInt(workspace?.bytes ?? 0)]),
    8n,
  );
  const operands = [b, a, c, c];
  for (const [i, attribute] of (preference.alignments ?? []).entries()) {
    library.MatmulPreferenceSetAttribute(
      made,
      attribute,
      new Uint32Array([alignmentOf(operands[i]!.memory.address)]),
      4n,
    );
  }
  return made;
}

/** Returns the greatest power of two that divides `address`, up to the library's default. */
function alignmentOf(address: bigint): number {
  let alignment = WIDEST_ALIGNMENT;
  while (address % BigInt(alignment) !== 0n) alignment /= 2;
  return alignment;
}

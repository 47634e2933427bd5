/**
 * The interface to a vendor's matrix library.
 *
 * Matrices are row-major here, whatever the library's own order is: C[m,n] =
 * op(A)[m,k] · op(B)[k,n].
 *
 * @module
 */

import type { Memory, Step } from "./queue.ts";
import type { DType } from "../model/dtype.ts";
import type { Values } from "../model/grid.ts";

/** A row-major matrix in device memory, or a batch of them. */
export interface Matrix {
  readonly memory: Memory;
  readonly type: DType;
  /** Elements between the starts of two stored rows. */
  readonly ld: number;
  /** Whether the stored rows are columns of the operand. @default {false} */
  readonly transposed?: boolean;
  /** Elements between two matrices of a batch. @default {0} */
  readonly stride?: number;
}

/** A matrix product, or `batch` of them at equal strides. */
export interface Gemm {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Matrix;
  readonly b: Matrix;
  readonly c: Matrix;
  /** @default {1} */
  readonly batch?: number;
}

/** The operation on the sums before they are stored. */
export type Epilogue = "none" | "relu" | "bias" | "bias+relu";

/**
 * fp32 scales in device memory: one for each operand (`tensor`), one for each row of A and
 * column of B (`row`), or one for 1 × 128 of A and 128 × 128 of B (`block128`). Those of blocks
 * are stored as cuBLASLt documents: of A `[K / 128, M]`, of B `[N / 128, K / 128]` with rows that
 * start at multiples of 4.
 */
export interface GemmScales {
  readonly kind: "tensor" | "row" | "block128";
  readonly a: Memory;
  readonly b: Memory;
}

/** A matrix product with its epilogue in the same kernel. */
export interface FusedGemm extends Gemm {
  readonly epilogue: Epilogue;
  /** `n` values of C's type; needed by the epilogues with a bias. */
  readonly bias?: Memory;
  /** The scales of FP8 operands. @default {none: operands are of 16 bits or more} */
  readonly scales?: GemmScales;
  /** Scratch that the library may use. */
  readonly workspace?: Memory;
}

/** One algorithm that a library proposes for a product, best first. */
export interface FusedChoice {
  /** Its description, e.g. `algo=66 tile=64x64 splitk=8`. */
  readonly name: string;
  readonly workspaceBytes: number;
  /** The product by this algorithm. */
  readonly step: Step;
}

/** A vendor's matrix library, opened for one device. */
export interface Blas {
  /** e.g. `cublas`, `openblas`. */
  readonly name: string;
  /** e.g. `13.0.2`. */
  readonly version: string;
  /** The file that it was opened from. */
  readonly path?: string;
  /** The number of threads that a CPU library uses. */
  readonly threads?: number;
  /**
   * A product with fp32 accumulation (never TF32 for fp32 operands).
   *
   * @throws {CaseError} `unsupported`, for types that the library cannot multiply.
   */
  gemm(gemm: Gemm): Step;
  /**
   * At most `limit` algorithms for a fused product, in the library's own order.
   * Missing where the library has no such interface.
   *
   * @throws {CaseError} `unsupported`, where the library proposes none.
   */
  fused?(gemm: FusedGemm, limit: number): readonly FusedChoice[];
  /**
   * The algorithms worth timing for a fused product, the library's own choice first, each
   * described so that {@linkcode Blas.fusedBy} finds it again, on another day too.
   * Missing where {@linkcode Blas.fused} is.
   *
   * @throws {CaseError} `unsupported`, where the library proposes none.
   */
  algorithms?(gemm: FusedGemm): readonly Values[];
  /**
   * A fused product by one of {@linkcode Blas.algorithms}.
   *
   * @throws {CaseError} `unsupported`, where this library has no such algorithm.
   */
  fusedBy?(gemm: FusedGemm, algorithm: Values): FusedChoice;
}

/**
 * Finds the operation of mnkbench, and its point, that computes a captured GEMM.
 *
 * @module
 */

import type { CapturedGemm } from "../../bench/model/captured.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import type { Op } from "../../bench/model/op.ts";
import type { OpKey } from "../../bench/model/problem.ts";
import { EPILOGUES, TYPES } from "../../kernels/matmul/point.ts";
import { ops } from "../../kernels/mod.ts";
import { SCALES } from "../../kernels/scaled/point.ts";

/** The arguments of a BLAS call. Its matrices are column-major. */
export interface BlasCall {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Whether A is transposed. For real numbers, `C` is the same as `T`. */
  readonly transA: "N" | "T" | "C";
  /** The same of B. */
  readonly transB: "N" | "T" | "C";
  /** Types of A and B. */
  readonly a: string;
  readonly b: string;
  readonly lda: number;
  readonly ldb: number;
  readonly ldc: number;
}

/** The sizes, types, layout and strides of a row-major GEMM. */
export type RowMajor = Pick<
  CapturedGemm,
  "m" | "n" | "k" | "a" | "b" | "layout" | "lda" | "ldb" | "ldc"
>;

/**
 * Returns the row-major GEMM that a BLAS call computes. The memory of a column-major C[m, n] is that of
 * the row-major Cᵀ[n, m] = Bᵀ · Aᵀ.
 *
 * @example
 * ```ts
 * import { rowMajor } from "./points.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * // What torch calls for x[16, 4096] · w[512, 4096]ᵀ.
 * const call = { m: 512, n: 16, k: 4096, lda: 4096, ldb: 4096, ldc: 512 };
 * deepStrictEqual(
 *   rowMajor({ ...call, transA: "T", transB: "N", a: "bf16", b: "bf16" }),
 *   {
 *     m: 16,
 *     n: 512,
 *     k: 4096,
 *     a: "bf16",
 *     b: "bf16",
 *     layout: "nt",
 *     lda: 4096,
 *     ldb: 4096,
 *     ldc: 512,
 *   },
 * );
 * ```
 */
export function rowMajor(call: BlasCall): RowMajor {
  const letter = (trans: BlasCall["transA"]) => trans === "N" ? "n" : "t";
  return {
    m: call.n,
    n: call.m,
    k: call.k,
    a: call.b,
    b: call.a,
    layout: `${letter(call.transB)}${letter(call.transA)}`,
    lda: call.ldb,
    ldb: call.lda,
    ldc: call.ldc,
  };
}

/** A point of an operation. */
export interface GemmPoint {
  readonly op: string;
  /** Values of the operation's axes. */
  readonly values: Values;
  /** The columns that rows of this point have. */
  readonly key: OpKey;
}

/** The columns of a GEMM that {@linkcode pointOfGemm} reads. */
export type GemmColumns =
  & RowMajor
  & Pick<
    CapturedGemm,
    "batch" | "c" | "compute" | "epilogue" | "scale" | "beta_nonzero"
  >;

/** Returns the point that computes the same as `gemm`, or why no operation does. */
export function pointOfGemm(given: GemmColumns): GemmPoint | string {
  const gemm = withoutIdleStrides(given);
  if (gemm.batch > 1) return `a batch of ${gemm.batch} products`;
  if (gemm.beta_nonzero) return "C is added to the product";
  if (gemm.compute !== "f32") return `it sums in ${gemm.compute}`;
  const { a, b } = gemm;
  return a === "e4m3" || b === "e4m3" ? scaledPoint(gemm) : matmulPoint(gemm);
}

/** Returns `gemm` with dense strides for matrices of one row, whose strides no kernel uses. */
function withoutIdleStrides(gemm: GemmColumns): GemmColumns {
  const { m, n, k, layout, lda, ldb, ldc } = gemm;
  const [rowsA, colsA] = layout.startsWith("n") ? [m, k] : [k, m];
  const [rowsB, colsB] = layout.endsWith("n") ? [k, n] : [n, k];
  return {
    ...gemm,
    lda: rowsA === 1 ? colsA : lda,
    ldb: rowsB === 1 ? colsB : ldb,
    ldc: m === 1 ? n : ldc,
  };
}

/**
 * Returns an equal GEMM whose A is stored row by row; undefined if there is none in the same memory.
 * There is one if A has one row or one column. If C has one column, the transposed GEMM is one.
 */
function withPlainA(gemm: GemmColumns): GemmColumns | undefined {
  const { m, n, k, a, b, layout, lda, ldb, ldc, epilogue } = gemm;
  if (layout.startsWith("n")) return gemm;
  const plain = layout === "tn" ? "nn" : "nt";
  if (k === 1) return { ...gemm, layout: plain, lda: 1 };
  if (m === 1 && lda === 1) return { ...gemm, layout: plain, lda: k };
  const isColumn = n === 1 && ldc === 1 && (layout === "tt" || ldb === 1);
  // A bias is added to the columns of C. In the transposed GEMM they would be rows.
  if (!isColumn || epilogue.startsWith("bias")) return undefined;
  return {
    ...gemm,
    m: 1,
    n: m,
    a: b,
    b: a,
    layout: "nn",
    lda: k,
    ldb: lda,
    ldc: m,
  };
}

function matmulPoint(gemm: GemmColumns): GemmPoint | string {
  const { a, b, c, epilogue } = gemm;
  const odd = [a, b, c].find((type) => !isOneOf(TYPES, type));
  if (odd !== undefined) return `its types are ${a}, ${b} and ${c}`;
  if (!isOneOf(EPILOGUES, epilogue)) return `its epilogue is ${epilogue}`;
  const plain = withPlainA(gemm);
  if (plain === undefined) return "A is stored transposed";
  const { m, n, k, layout, lda, ldb, ldc } = plain;
  const dense = layout === "nn" ? n : k;
  return at("matmul", {
    m,
    n,
    k,
    type: plain.a,
    ...(plain.b === plain.a ? {} : { type_b: plain.b }),
    ...(c === plain.a ? {} : { type_c: c }),
    epilogue,
    layout,
    ...(lda === k ? {} : { lda }),
    ...(ldb === dense ? {} : { ldb }),
    ...(ldc === n ? {} : { ldc }),
  });
}

function scaledPoint(gemm: GemmColumns): GemmPoint | string {
  const { m, n, k, a, b, c, layout, lda, ldb, ldc, epilogue } = gemm;
  const { scale = "tensor" } = gemm;
  if (a !== "e4m3" || b !== "e4m3" || c !== "bf16") {
    return `its types are ${a}, ${b} and ${c}`;
  }
  if (epilogue !== "none") return `its epilogue is ${epilogue} in FP8`;
  if (!isOneOf(SCALES, scale)) return `its scales are ${scale}`;
  if (layout !== "nt") return `its layout is ${layout} in FP8`;
  if (lda !== k || ldb !== k || ldc !== n) return "its rows are padded in FP8";
  return at("scaled-matmul", { m, n, k, scale });
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

function at(name: string, values: Values): GemmPoint | string {
  const op: Op<unknown> = ops.find((one) => one.op.name === name)!.op;
  try {
    return { op: name, values, key: op.key(op.point(values)) };
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

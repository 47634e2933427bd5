/**
 * The points of {@linkcode matmul}: a shape, its type, epilogue and layout.
 *
 * @module
 */

import type { Epilogue } from "../../bench/device/blas.ts";

/** The types that the operation is defined for. */
export const TYPES = ["bf16", "f16", "f32"] as const;

/** The epilogues, by name. */
export const EPILOGUES = ["none", "relu", "bias", "bias+relu"] as const;

/** A matrix product to compute. */
export interface MatmulPoint {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Of A, and of B, bias and C unless they have others; sums are fp32. */
  readonly type: typeof TYPES[number];
  /** Of B, where it is not that of A. */
  readonly typeB?: typeof TYPES[number];
  /** Of C and the bias, where it is not that of A. */
  readonly typeC?: typeof TYPES[number];
  readonly epilogue: Epilogue;
  readonly layout: "nn" | "nt";
  /** Elements between the starts of two rows of A, B and C. */
  readonly lda: number;
  readonly ldb: number;
  readonly ldc: number;
  /** Elements between two columns of C; where it is not 1, `ldc` is `n * stepc`. */
  readonly stepc: number;
}

/** Returns the types of A, B and C; the bias has that of C. */
export function typesOf(
  { type, typeB = type, typeC = type }: MatmulPoint,
): Readonly<Record<"a" | "b" | "c", MatmulPoint["type"]>> {
  return { a: type, b: typeB, c: typeC };
}

/** Returns whether a bias is added. */
export function hasBias({ epilogue }: MatmulPoint): boolean {
  return epilogue.startsWith("bias");
}

/** Returns whether negative results become 0. */
export function hasRelu({ epilogue }: MatmulPoint): boolean {
  return epilogue.endsWith("relu");
}

/** Returns why K, or the elements of C, cannot be numbered in 31 bits, as the GPU kernels do. */
export function tooLarge(
  { m, n, k }: Pick<MatmulPoint, "m" | "n" | "k">,
): string | undefined {
  if (k >= 2 ** 31) return `K = ${k}: it is numbered in 31 bits`;
  return m * n < 2 ** 31
    ? undefined
    : `M x N = ${m * n}: elements of C are numbered in 31 bits`;
}

/** The numbers of the types in `cpu/element.h`. */
export const TYPE_NUMBERS = { f32: 0, f16: 1, bf16: 2 } as const;

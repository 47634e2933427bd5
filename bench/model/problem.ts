/**
 * An operation at one point: operands, work, tolerance, reference and mutants.
 *
 * @module
 */

import type { Memory } from "../device/queue.ts";
import { BYTES, type DType } from "./dtype.ts";

/** Describes a row-major array of shape [`rows`, `cols`] with row stride `ld`. */
export interface Operand {
  readonly name: string;
  readonly role: "in" | "out";
  readonly type: DType;
  readonly rows: number;
  /** Stored elements of a row, without padding. */
  readonly cols: number;
  /** Row stride in elements, at least `cols`. A kernel must not write the padding. */
  readonly ld: number;
}

/** Holds the columns of a row's key that an operation fills. */
export interface OpKey {
  readonly a_type: DType;
  readonly b_type: DType;
  readonly c_type: DType;
  readonly acc_type: DType;
  readonly layout: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** The other axes as `name=value`, in the operation's order: `epilogue=relu`. */
  readonly params: string;
}

/** Matches a layout: a word, or nothing where an operation has none. */
export const LAYOUT = /^[\w.+-]*$/;

/** Matches the parameters of a key: `name=value` words, or nothing. */
export const PARAMS = /^([^\s=]+=\S*( [^\s=]+=\S*)*)?$/;

/** Columns of a key that are axes of every operation. */
export const AXIS_COLUMNS = [
  "m",
  "n",
  "k",
  "layout",
  "a_type",
  "b_type",
  "c_type",
  "acc_type",
] as const satisfies readonly (keyof OpKey)[];

/** Gives the reference outputs in double precision. */
export interface Reference {
  /** Returns the `rows × cols` elements of output number `output`, without padding. */
  all(output: number): Float64Array<ArrayBuffer>;
  /** Returns the elements `indices` of output number `output` only. */
  at(output: number, indices: readonly number[]): Float64Array<ArrayBuffer>;
  /**
   * Returns √Σ(aₖ·bₖ)² of the products that are summed in each element at `rows` and `columns` of
   * output number `output`, a row after the other. Errors relative to it give the column `bits`,
   * which is empty without it.
   */
  norms?(
    output: number,
    rows: readonly number[],
    columns: readonly number[],
  ): Float64Array<ArrayBuffer>;
}

/** Allows a difference |out − ref| ≤ atol + rtol · |ref|, for each element. */
export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

/** Counts the least work of a problem. */
export interface Work {
  /** A multiply-add counts as two. */
  readonly flops: number;
  /** Inputs read once and outputs written once. */
  readonly bytes: number;
  /**
   * The type whose peak rate bounds the problem, if devices multiply in a wider type.
   *
   * @default {a_type of the key}
   */
  readonly type?: DType;
}

/** A wrong output that the tolerance must reject. */
export interface Mutant {
  /** Such as `zeros`, `dropped K slice` or `no ReLU`. */
  readonly name: string;
  /** One array for each output, `rows × cols` elements. */
  readonly outputs: readonly Float64Array<ArrayBuffer>[];
}

/** Maps operand names to device memory. */
export type Operands = Readonly<Record<string, Memory>>;

/** Returns the products that an element of the outputs is a sum of, on average; at least 1. */
export function productsIn(
  { work, operands }: {
    readonly work: Pick<Work, "flops">;
    readonly operands: readonly Operand[];
  },
): number {
  const elements = operands.filter(({ role }) => role === "out")
    .reduce((sum, { rows, cols }) => sum + rows * cols, 0);
  return Math.max(1, work.flops / 2 / Math.max(1, elements));
}

/** Returns the number of elements that `operand` occupies, padding included. */
export function elementsOf({ rows, ld }: Operand): number {
  return rows * ld;
}

/** Bytes of an operand, padding included. */
export function storedBytes(operand: Operand): number {
  return elementsOf(operand) * BYTES[operand.type];
}

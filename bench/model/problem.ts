/**
 * An operation at one point: operands, work, tolerance, reference and mutants.
 *
 * @module
 */

import type { Memory } from "../device/queue.ts";
import type { DType } from "./dtype.ts";

/** A row-major array that an operation reads or writes: `rows` of `cols`, `ld` apart. */
export interface Operand {
  readonly name: string;
  readonly role: "in" | "out";
  readonly type: DType;
  readonly rows: number;
  /** Stored elements of a row. */
  readonly cols: number;
  /** Elements between the starts of two rows; those past `cols` belong to nobody. */
  readonly ld: number;
}

/** Where an operation stands among others: columns of the row, part of its key. */
export interface OpKey {
  readonly a_type: DType;
  readonly b_type: DType;
  readonly c_type: DType;
  readonly acc_type: DType;
  readonly layout: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** All else, in canonical order: `epilogue=relu`. */
  readonly params: string;
}

/** The right answer in double precision. */
export interface Reference {
  /** Elements `rows × cols` of output number `output`, without padding. */
  all(output: number): Float64Array<ArrayBuffer>;
  /** Only the elements `indices` of them: to check another reference by a sample. */
  at(output: number, indices: readonly number[]): Float64Array<ArrayBuffer>;
}

/** How far from right is still right: |out - ref| ≤ atol + rtol·|ref|. */
export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

/** What an operation asks of a device. */
export interface Work {
  readonly flops: number;
  readonly bytes: number;
  /**
   * The type whose peak rate bounds it, where devices multiply operands in a wider one.
   *
   * @default {a_type of the key}
   */
  readonly type?: DType;
}

/** A wrong answer that the tolerance must reject. */
export interface Mutant {
  /** e.g. `zeros`, `dropped K slice`, `no ReLU`. */
  readonly name: string;
  /** One array for each output. */
  readonly outputs: readonly Float64Array<ArrayBuffer>[];
}

/** The memory of a case, by operand name. */
export type Operands = Readonly<Record<string, Memory>>;

/** Elements that `operand` takes, padding included. */
export function elementsOf({ rows, ld }: Operand): number {
  return rows * ld;
}

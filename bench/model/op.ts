/**
 * What is computed: the contract that every kernel of an operation meets.
 *
 * @module
 */

import type { Arg, Memory } from "../device/device.ts";
import type { DType } from "./dtype.ts";
import type { Values } from "./grid.ts";
import type { InputOptions } from "./inputs.ts";
import type { Kernel } from "./kernel.ts";

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

/** An operation over points of type `P`. */
export interface Op<P> {
  readonly name: string;
  /** Reads a point from the values of a suite's axes. @throws {UserError} If one is off. */
  point(values: Values): P;
  /** Inputs and outputs; their order numbers the tensors of the generator. */
  operands(point: P): readonly Operand[];
  /** The stored bytes of the inputs, in the order of the operands. */
  inputs(
    point: P,
    options: InputOptions,
  ): readonly Uint8Array<ArrayBuffer>[];
  /** The right outputs, accumulated in double precision on the host. */
  reference(
    point: P,
    inputs: readonly Uint8Array<ArrayBuffer>[],
  ): Reference;
  tolerance(point: P): Tolerance;
  /** The least work that any kernel must do. */
  work(point: P): Work;
  key(point: P): OpKey;
  /** The C parameters of a kernel of one launch that declares none of its own. */
  args(point: P, operands: Operands): readonly Arg[];
  /** Wrong answers near `right` that a check must reject, for the vacuity test. */
  mutants(
    point: P,
    inputs: readonly Uint8Array<ArrayBuffer>[],
    right: Reference,
  ): readonly Mutant[];
  /**
   * For each backend that has one, a plain kernel that writes the outputs as unpadded
   * f64, accumulated in f64: the reference where the host would take too long.
   */
  readonly referees?: readonly Kernel<P>[];
  /** Small odd points at which every kernel of the operation is checked. */
  readonly oddities: readonly P[];
}

/** Elements that `operand` takes, padding included. */
export function elementsOf({ rows, ld }: Operand): number {
  return rows * ld;
}

/**
 * The contract of an operation, which each of its kernels meets.
 *
 * @module
 */

import type { Arg } from "../device/queue.ts";
import type { Values } from "./grid.ts";
import type { InputOptions } from "./inputs.ts";
import type { Kernel } from "./kernel_spec.ts";
import type { Axis } from "./op_axes.ts";
import type {
  Mutant,
  Operand,
  Operands,
  OpKey,
  Reference,
  Tolerance,
  Work,
} from "./problem.ts";

/** An operation over points of type `P`. */
export interface Op<P> {
  readonly name: string;
  /** The values that name a point. Suites, `--axis` and `--where` know no others. */
  readonly axes: readonly Axis[];
  /**
   * The point that `values` name; each is one that its axis allows.
   *
   * @throws {UserError} Where values do not go together.
   */
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
  readonly referenceKernels?: readonly Kernel<P>[];
  /** Small edge-case shapes at which every kernel of the operation is checked. */
  readonly edgeCases: readonly P[];
}

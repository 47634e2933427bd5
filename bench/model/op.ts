/**
 * The contract of an operation, which each of its kernels meets.
 *
 * @module
 */

import type { Arg } from "../device/queue.ts";
import type { Values } from "./grid.ts";
import type { InputOptions } from "./inputs.ts";
import type { Kernel } from "./kernel_spec.ts";
import type { Axis } from "./axes.ts";
import type {
  Mutant,
  Operand,
  Operands,
  OpKey,
  Reference,
  Tolerance,
  Work,
} from "./problem.ts";

/** Describes an operation over points of type `P`, such as a GEMM over its shapes. */
export interface Op<P> {
  /** The value of the column `op`. */
  readonly name: string;
  /** The axes whose values name a point. Suites, `--axis` and `--where` accept no others. */
  readonly axes: readonly Axis[];
  /**
   * Makes the point that `values` name.
   *
   * @throws {UserError} If an axis does not allow its value, or values exclude each other.
   */
  point(values: Values): P;
  /** Lists inputs and outputs. An operand's index is its tensor number in the generator. */
  operands(point: P): readonly Operand[];
  /**
   * Generates the stored bytes of the inputs, padding included, in the order of the operands. Nobody
   * writes to them: an operation may return the same arrays again. Other sets of a batch have the
   * elements of each input in another order, as inputs have that change while a kernel is timed,
   * but for those of i32, which are positions.
   */
  inputs(
    point: P,
    options: InputOptions,
  ): readonly Uint8Array<ArrayBuffer>[];
  /** Computes the reference outputs on the host, accumulated in double precision. */
  reference(
    point: P,
    inputs: readonly Uint8Array<ArrayBuffer>[],
  ): Reference;
  /** Returns the largest allowed difference from the reference. */
  tolerance(point: P): Tolerance;
  /**
   * Returns the least effective bits of a result, as `precisionOf` of
   * `bench/measure/precision.ts` counts them. A kernel with a tolerance of its own is exempt.
   *
   * @default {any number will do}
   */
  bits?(point: P): number;
  /** Returns the least work of any kernel: flops, and bytes read and written once. */
  work(point: P): Work;
  /**
   * Returns what few kernels can do of a point, with the reason of the others: a kernel runs there
   * if its `takes` has each of the names. @default {nothing: kernels run everywhere}
   */
  demands?(point: P): Readonly<Record<string, string>>;
  /** Returns the point's columns of a row's key. */
  key(point: P): OpKey;
  /** Returns the C arguments of a kernel by `defineLaunch` without `args`. */
  args(point: P, operands: Operands): readonly Arg[];
  /** Returns wrong outputs near `right` that a check must reject, for the vacuity test. */
  mutants(
    point: P,
    inputs: readonly Uint8Array<ArrayBuffer>[],
    right: Reference,
  ): readonly Mutant[];
  /**
   * Plain kernels, at most one a backend, that write the outputs as unpadded f64,
   * accumulated in f64. They replace the host's reference above 10⁹ flops.
   */
  readonly referenceKernels?: readonly Kernel<P>[];
  /** Small edge-case shapes at which `check` runs every kernel of the operation. */
  readonly edgeCases: readonly P[];
}

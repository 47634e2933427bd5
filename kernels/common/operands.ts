/**
 * Parts of operations: operands, and wrong outputs that are near the right one.
 *
 * @module
 */

import { BYTES, type DType } from "../../bench/model/dtype.ts";
import type { Mutant, Operand } from "../../bench/model/problem.ts";

/** An input of `rows` rows of `cols` elements, `ld` apart. */
export function input(
  name: string,
  type: DType,
  [rows, cols, ld = cols]: readonly [rows: number, cols: number, ld?: number],
): Operand {
  return { name, role: "in", type, rows, cols, ld };
}

/** An output, as {@linkcode input}. */
export function output(
  ...of: Parameters<typeof input>
): Operand {
  return { ...input(...of), role: "out" };
}

/** Inputs that a previous launch may write: activations and their scales. The others are weights. */
export const ACTIVATIONS: ReadonlySet<string> = new Set([
  ...["A", "X", "x", "scaleA"],
]);

/** Bytes of all operands, without what pads their rows. */
export function bytesOf(operands: readonly Operand[]): number {
  return operands.reduce(
    (sum, { rows, cols, type }) => sum + rows * cols * BYTES[type],
    0,
  );
}

/** A mistake and the only output that it would give; none where the point cannot have it. */
type Mistake =
  | readonly [name: string, output: Float64Array<ArrayBuffer>]
  | false;

/** The mutants of an operation with one output. */
export function mutants(...mistakes: readonly Mistake[]): Mutant[] {
  return mistakes.filter((mistake) => mistake !== false)
    .map(([name, output]) => ({ name, outputs: [output] }));
}

/** The tile of 16 x 16 at the origin, shifted by one element within its rows. */
export function wrongTile(
  answer: Float64Array<ArrayBuffer>,
  { m, n }: { readonly m: number; readonly n: number },
): Mistake {
  return m * n > 1 && [
    "one wrong tile",
    answer.map((x, i) =>
      Math.floor(i / n) < 16 && i % n < 16 ? answer[(i + 1) % (m * n)]! : x
    ),
  ];
}

/** What is left of `answer` without `part` of its sums. */
export function without(
  answer: Float64Array<ArrayBuffer>,
  part: Float64Array,
): Float64Array<ArrayBuffer> {
  return answer.map((sum, i) => sum - part[i]!);
}

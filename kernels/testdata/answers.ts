/**
 * The inputs and right outputs of points, for tests that run kernels.
 *
 * @module
 */

import type { InputOptions } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";

/** The inputs of all tests that name no others. */
export const INPUTS: InputOptions = { seed: 3, fill: "normal" };

/** Inputs and right outputs of a point. */
export interface Made {
  readonly inputs: readonly Uint8Array<ArrayBuffer>[];
  readonly right: readonly Float64Array<ArrayBuffer>[];
}

// By the operation itself: tests change its inputs and keep its name.
const made = new WeakMap<object, Map<string, Made>>();

/** The inputs of `point`, and what is right for them, worked out once. */
export function madeOf<P>(
  op: Op<P>,
  point: P,
  options: InputOptions = INPUTS,
): Made {
  let all = made.get(op);
  if (all === undefined) made.set(op, all = new Map());
  const key = JSON.stringify([point, options]);
  let known = all.get(key);
  if (known === undefined) {
    const inputs = op.inputs(point, options);
    const reference = op.reference(point, inputs);
    const outs = op.operands(point).filter(({ role }) => role === "out");
    known = { inputs, right: outs.map((_, i) => reference.all(i)) };
    all.set(key, known);
  }
  return known;
}

/** `op` with outputs as its references write them: f64, no rows padded, right to 1e-12. */
export function unrounded<P>(op: Op<P>, tolerance = 1e-12): Op<P> {
  return {
    ...op,
    operands: (point) =>
      op.operands(point).map((operand) =>
        operand.role === "in"
          ? operand
          : { ...operand, type: "f64", ld: operand.cols }
      ),
    tolerance: () => ({ rtol: tolerance, atol: tolerance }),
  };
}

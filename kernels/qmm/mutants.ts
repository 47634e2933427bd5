/**
 * Wrong products that a check must reject: mistakes of split-K kernels, and of kernels
 * that decode weights.
 *
 * @module
 */

import type { Mutant, Reference } from "../../bench/model/problem.ts";
import { mutants, without, wrongTile } from "../common/operands.ts";
import { type QmmPoint, weightShape } from "./point.ts";
import { productOf } from "./reference.ts";
import { Weights } from "./weights.ts";

type Inputs = readonly Uint8Array<ArrayBuffer>[];

/** The slices of K of a split-K kernel. */
const SLICES = 16;

/** The mistakes, with the outputs that they would give at `point`. */
export function mutantsOf(
  point: QmmPoint,
  [bytes, ...stored]: Inputs,
  right: Reference,
): Mutant[] {
  const { m, n, k, mode } = point;
  const weights = new Weights(point, stored);
  const answer = right.all(0);
  const of = (row: (index: number) => ArrayLike<number>) =>
    productOf(point, bytes!, row);
  const less = (from: number, to: number) =>
    without(
      answer,
      productOf(point, bytes!, (i) => weights.row(i), [from, to]),
    );
  // As far as it is whole groups: what a split at any other place would leave out.
  const slice = Math.ceil(k / SLICES);
  const tail = point.transposed ? point.group : Math.min(k, 16);
  const others = rotated(point, stored);
  const unbiased = new Weights(
    point,
    stored.map((part, i) => i === 2 ? new Uint8Array(part.length) : part),
  );
  return mutants(
    ["zeros", new Float64Array(m * n)],
    ["neighbours swapped", of((i) => swapped(weights.row(i)))],
    slice < k && ["dropped K slice", less(0, slice)],
    tail < k && ["dropped last group", less(k - tail, k)],
    wrongTile(answer, point),
    others !== undefined &&
      ["scales of the next group", of((i) => others.row(i))],
    mode === "affine" && ["no biases", of((i) => unbiased.row(i))],
  );
}

/** Each pair of weights in the other order: nibbles from the high one on. */
function swapped(w: Float32Array): Float32Array {
  return w.map((_, i) => w[i ^ 1]!);
}

/** The weights under their neighbours' scales; none where these are all alike. */
function rotated(
  point: QmmPoint,
  stored: Inputs,
): Weights | undefined {
  const { rows, cols } = weightShape(point);
  const bytes = point.mode === "affine" ? 2 : 1;
  const groups = cols / point.group;
  const [packed, scales, ...biases] = stored;
  const moved = scales!.map((_, i) => {
    const [element, byte] = [Math.floor(i / bytes), i % bytes];
    const [row, group] = [Math.floor(element / groups), element % groups];
    return scales![(row * groups + (group + 1) % groups) * bytes + byte]!;
  });
  if (rows * groups === 0 || moved.every((b, i) => b === scales![i])) {
    return undefined;
  }
  return new Weights(point, [packed!, moved, ...biases]);
}

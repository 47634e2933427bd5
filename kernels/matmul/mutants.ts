/**
 * Wrong products that a check must reject: mistakes of split-K kernels.
 *
 * @module
 */

import { decode } from "../../bench/model/dtype.ts";
import type { Mutant, Reference } from "../../bench/model/problem.ts";
import type { MatmulPoint } from "./point.ts";
import { product } from "./reference.ts";

/** The slices of K of a split-K kernel. */
const SLICES = 16;

/** The mistakes, with the outputs that they would give at `point`. */
export function mutantsOf(
  point: MatmulPoint,
  inputs: readonly Uint8Array<ArrayBuffer>[],
  right: Reference,
): Mutant[] {
  const [a, b, bias] = inputs.map((bytes) => decode(bytes, point.type));
  const { m, n, k } = point;
  const relu = point.epilogue.endsWith("relu");
  const finish = (sums: Float64Array<ArrayBuffer>, { clamp = relu } = {}) =>
    sums.map((sum, i) => {
      const x = sum + (bias ? bias[i % n]! : 0);
      return clamp ? Math.max(x, 0) : x;
    });
  const slice = Math.ceil(k / SLICES);
  const sums = product(point, a!, b!);
  const first = product(point, a!, b!, 0, slice);
  const answer = right.all(0);
  const mutants: Mutant[] = [
    { name: "zeros", outputs: [new Float64Array(m * n)] },
  ];
  if (slice < k) {
    mutants.push(
      { name: "first slice only", outputs: [finish(first)] },
      {
        name: "dropped K slice",
        outputs: [finish(sums.map((sum, i) => sum - first[i]!))],
      },
    );
  }
  if (m * n > 1) {
    // The tile at the origin, shifted by one element within its rows.
    const [rows, cols] = [Math.min(m, 16), Math.min(n, 16)];
    mutants.push({
      name: "one wrong tile",
      outputs: [answer.map((x, i) => {
        const [row, col] = [Math.floor(i / n), i % n];
        return row < rows && col < cols ? answer[(i + 1) % (m * n)]! : x;
      })],
    });
  }
  if (relu && m * n > 1) {
    mutants.push({
      name: "no ReLU",
      outputs: [finish(sums, { clamp: false })],
    });
  }
  if (bias) {
    mutants.push({
      name: "no bias",
      outputs: [sums.map((x) => relu ? Math.max(x, 0) : x)],
    });
  }
  return mutants;
}

/**
 * y = x · Wᵀ or x · W, where W is quantised as MLX does it: operands, right answer, least
 * work and tolerance.
 *
 * Inputs are N(0, 1/K), and the tolerance is that of MLX's tests
 * (`python/tests/test_quantized.py`): 1e-3 absolute, beside which `fp_qmv_large_output`
 * allows a share of the value, 1e-3 in fp16 and 1e-2 in bf16. The right answer comes from
 * the values that the stored weights stand for, in double precision.
 *
 * @module
 */

import {
  type DType,
  encode,
  SIGNIFICANT_BITS,
} from "../../bench/model/dtype.ts";
import { groupName, MODES } from "../../bench/formats/quant_format.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { values } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import { packed } from "../common/launch.ts";
import {
  bytesOf,
  input,
  mutants,
  output,
  without,
  wrongTile,
} from "../common/operands.ts";
import { linesOf, SampledProduct } from "../common/product.ts";
import {
  AXES,
  blockOf,
  edgeCases,
  type QmmPoint,
  readPoint,
  weightShape,
} from "./point.ts";
import { productOf, qmmReferences } from "./reference.ts";
import { storedWeights, Weights } from "./weights.ts";
import type { Mutant, Reference } from "../../bench/model/problem.ts";

const TOLERANCE = {
  f16: { rtol: 1e-3, atol: 1e-3 },
  bf16: { rtol: 1e-2, atol: 1e-3 },
} as const;

/**
 * The K below which the absolute tolerance grows with 1/√K, as the error of weights does that are
 * rounded to bf16: its deviation is 1.6e-3/√K, a fifth of the tolerance at this K.
 */
const SMALL_K = 64;

/** The type of scales, by mode; affine ones have that of the activations. */
const SCALES: Readonly<Record<string, DType>> = {
  mxfp4: "e8m0",
  mxfp8: "e8m0",
  nvfp4: "e4m3",
};

/** The operation. */
export const qmm: Op<QmmPoint> = {
  name: "qmm",
  axes: AXES,
  point: readPoint,
  // x[M,K], w as words, scales[, biases] a column for each group of w's rows, y[M,N]
  operands(point) {
    const { m, n, k, type, mode, bits, group } = point;
    const { rows, cols } = weightShape(point);
    const groups = [rows, cols / group] as const;
    return [
      input("x", type, [m, k]),
      input("w", "u32", [rows, cols * bits / 32]),
      input("scales", SCALES[mode] ?? type, groups),
      ...(mode === "affine" ? [input("biases", type, groups)] : []),
      output("y", type, [m, n]),
    ];
  },
  inputs(point, options) {
    const { m, k, type } = point;
    const x = values(options, 0, m * k);
    const unit = 1 / Math.sqrt(k);
    for (let i = 0; i < x.length; i++) x[i]! *= unit;
    return [encode(x, type), ...storedWeights(point, options)];
  },
  reference(point, [bytes, ...stored]) {
    const { n, k } = point;
    const weights = new Weights(point, stored);
    const { row } = linesOf(bytes!, point.type, { ld: k, k });
    const looks = new SampledProduct(n, row, (j) => weights.column(j));
    return {
      all: () => productOf(point, bytes!, (i) => weights.row(i)),
      at: (_, indices) => looks.at(indices),
      norms: (_, rows, columns) => looks.norms(rows, columns),
    };
  },
  tolerance({ type, k }) {
    const { rtol, atol } = TOLERANCE[type];
    return { rtol, atol: atol * Math.sqrt(Math.max(1, SMALL_K / k)) };
  },
  // Weights may be rounded to the type of the activations before they are multiplied.
  bits: ({ type }) => SIGNIFICANT_BITS[type],
  work(point) {
    const { m, n, k } = point;
    return { flops: 2 * m * n * k, bytes: bytesOf(qmm.operands(point)) };
  },
  key(point) {
    const { m, n, k, type, mode, bits, transposed } = point;
    return {
      a_type: type,
      b_type: "u32",
      c_type: type,
      acc_type: "f32",
      layout: transposed ? "nt" : "nn",
      m,
      n,
      k,
      params: formatValues({
        mode,
        ...(mode === "affine" ? { bits, group: groupName(point) } : {}),
      }),
    };
  },
  // (x, w, scales, [biases,] y, M, N, K, mode, bits, group, transposed)
  args(point, operands) {
    const { m, n, k, mode, bits, group, transposed } = point;
    return packed([
      ...qmm.operands(point).map(({ name }) => operands[name]),
      ...[m, n, k, MODES.indexOf(mode), bits, group, transposed],
    ]);
  },
  mutants: mutantsOf,
  // Not a field: it takes the operation, which is not made yet.
  get referenceKernels() {
    return qmmReferences(qmm);
  },
  edgeCases: edgeCases(),
};

type Inputs = readonly Uint8Array<ArrayBuffer>[];

/** The slices of K of a split-K kernel. */
const SLICES = 16;

/** The mistakes, with the outputs that they would give at `point`. */
function mutantsOf(
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
  const tail = point.transposed ? blockOf(point).GROUP : Math.min(k, 16);
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

/** The weights under their neighbours' scales, or the next row's; none where these are all alike. */
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
    const next = groups > 1
      ? row * groups + (group + 1) % groups
      : (row + 1) % rows;
    return scales![next * bytes + byte]!;
  });
  if (rows * groups === 0 || moved.every((b, i) => b === scales![i])) {
    return undefined;
  }
  return new Weights(point, [packed!, moved, ...biases]);
}

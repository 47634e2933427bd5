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
import { MODES } from "../../bench/formats/quant_format.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { values } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import { packed } from "../common/launch.ts";
import { bytesOf, input, output } from "../common/operands.ts";
import { linesOf, Looks } from "../common/product.ts";
import { mutantsOf } from "./mutants.ts";
import {
  AXES,
  edgeCases,
  type QmmPoint,
  readPoint,
  weightShape,
} from "./point.ts";
import { productOf, qmmReferences } from "./reference.ts";
import { storedWeights, Weights } from "./weights.ts";

const TOLERANCE = {
  f16: { rtol: 1e-3, atol: 1e-3 },
  bf16: { rtol: 1e-2, atol: 1e-3 },
} as const;

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
    const looks = new Looks(n, row, (j) => weights.column(j));
    return {
      all: () => productOf(point, bytes!, (i) => weights.row(i)),
      at: (_, indices) => looks.at(indices),
      norms: (_, rows, columns) => looks.norms(rows, columns),
    };
  },
  tolerance: ({ type }) => TOLERANCE[type],
  // Weights may be rounded to the type of the activations before they are multiplied.
  bits: ({ type }) => SIGNIFICANT_BITS[type],
  work(point) {
    const { m, n, k } = point;
    return { flops: 2 * m * n * k, bytes: bytesOf(qmm.operands(point)) };
  },
  key({ m, n, k, type, mode, bits, group, transposed }) {
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
        ...(mode === "affine" ? { bits, group } : {}),
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

/**
 * C = scaleA · A · (scaleB · B)ᵀ for FP8 operands: E4M3 A[M,K] and B[N,K] to bf16 C[M,N],
 * summed in fp32.
 *
 * Scales are fp32 and laid out as cuBLASLt and `torch._scaled_mm` take them: one for each
 * operand (`tensor`), one for each row of A and of B (`row`), or one for 1 × 128 of A and
 * 128 × 128 of B (`block128`, as DeepSeek-V3). Scales differ by up to a factor of 4 from their
 * neighbours, so that a kernel which takes the wrong one fails its check.
 *
 * Outputs have a standard deviation of 1 to 2. The tolerance is that of the bf16 matmul suites,
 * 2e-2 relative and 1e-2 absolute; PyTorch's tests of `_scaled_mm`
 * (test/test_scaled_matmul_cuda.py) allow 7e-2 of both for bf16 outputs.
 *
 * @module
 */

import { SIGNIFICANT_BITS } from "../../bench/model/dtype.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import { remembered } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import { type Axis, readAxes } from "../../bench/model/axes.ts";
import { packed, referenceKernels } from "../common/launch.ts";
import { bytesOf, input, output } from "../common/operands.ts";
import { SampledProduct } from "../common/product.ts";
import {
  mutantsOf,
  productOf,
  quantised,
  rowsOf,
  type ScaledPoint,
  scaleLayouts,
  SCALES,
} from "./point.ts";

const AXES: readonly Axis[] = [
  { name: "m", about: "rows of A", values: "size" },
  { name: "n", about: "rows of B, columns of C", values: "size" },
  { name: "k", about: "columns of A and of B", values: "size" },
  {
    name: "scale",
    about: "what has a scale: an operand, a row, or a block of 128",
    values: SCALES,
    default: "tensor",
  },
];

/** The operation. */
export const scaledMatmul: Op<ScaledPoint> = {
  name: "scaled-matmul",
  axes: AXES,
  point: (values) =>
    readAxes({ name: "scaled-matmul", axes: AXES }, values) as
      & Values
      & ScaledPoint,
  operands(point) {
    const { m, n, k } = point;
    const { a, b } = scaleLayouts(point);
    return [
      input("A", "e4m3", [m, k]),
      input("B", "e4m3", [n, k]),
      input("scaleA", "f32", [a.rows, a.cols, a.ld]),
      input("scaleB", "f32", [b.rows, b.cols, b.ld]),
      output("C", "bf16", [m, n]),
    ];
  },
  inputs(point, options) {
    const { m, n, k } = point;
    const { a, b } = scaleLayouts(point);
    const unit = 1 / Math.sqrt(k);
    const first = quantised(options, 0, { rows: m, k, layout: a, unit });
    const second = remembered(
      {
        op: "scaled-matmul",
        part: "B",
        of: { options, n, k, scale: point.scale },
      },
      () => quantised(options, 1, { rows: n, k, layout: b, unit: 1 }),
    );
    return [first.codes, second.codes, first.scales, second.scales];
  },
  reference(point, inputs) {
    const { a, b } = rowsOf(point, inputs);
    const looks = new SampledProduct(point.n, a, b);
    return {
      all: () => productOf(point, { a, b }),
      at: (_, indices) => looks.at(indices),
      norms: (_, rows, columns) => looks.norms(rows, columns),
    };
  },
  tolerance: () => ({ rtol: 2e-2, atol: 1e-2 }),
  // As if each term were rounded to bf16: FP8 tensor cores of sm_90 add with about 14 bits
  // (DeepSeek-V3 Technical Report, 2024, section 3.3.2).
  bits: () => SIGNIFICANT_BITS.bf16,
  work: (point) => ({
    flops: 2 * point.m * point.n * point.k,
    bytes: bytesOf(scaledMatmul.operands(point)),
  }),
  key({ m, n, k, scale }) {
    return {
      a_type: "e4m3",
      b_type: "e4m3",
      c_type: "bf16",
      acc_type: "f32",
      layout: "nt",
      m,
      n,
      k,
      params: formatValues({ scale }),
    };
  },
  // (A, B, scaleA, scaleB, C, M, N, K, scale)
  args(point, operands) {
    const { m, n, k, scale } = point;
    return packed([
      ...scaledMatmul.operands(point).map(({ name }) => operands[name]),
      ...[m, n, k, SCALES.indexOf(scale)],
    ]);
  },
  mutants: (point, inputs, right) => mutantsOf(point, inputs, right.all(0)),
  // Not a field: they take the operation, which is not made yet.
  get referenceKernels() {
    return referenceKernels(scaledMatmul, {
      cuda: { source: new URL("./cuda/reference.cu", import.meta.url) },
      cpu: {
        source: new URL("./cpu/scaled.c", import.meta.url),
        args: ({ point, operands, device }) => [
          ...scaledMatmul.args(point, operands),
          device.info.units,
        ],
      },
    });
  },
  edgeCases: SCALES.flatMap((scale) =>
    [
      { m: 1, n: 1, k: 16 },
      { m: 1, n: 16, k: 128 },
      { m: 3, n: 5, k: 48 },
      { m: 17, n: 33, k: 144 },
      { m: 16, n: 128, k: 512 },
      { m: 33, n: 130, k: 400 },
      { m: 64, n: 48, k: 1024 },
      { m: 2, n: 264, k: 1296 },
      // Rows that are no whole 16-byte chunks.
      { m: 5, n: 24, k: 251 },
    ].map((shape) => ({ ...shape, scale }))
  ),
};

/**
 * C = silu(X · W1ᵀ) ⊙ (X · W2ᵀ): the gate and up projections of an FFN and what joins them, with
 * X[M,K], W1[N,K], W2[N,K] and C[M,N] of one 16-bit type, row-major, and fp32 sums.
 *
 * silu(x) = x / (1 + exp(−x)) (`torch.nn.functional.silu`). Weights have a standard deviation of
 * 2 / √K, so that gates and ups have one of 2: about half of the gates are where silu bends.
 *
 * A kernel may round the gate, its silu and the up to the type, as PyTorch does between its
 * kernels, or round only C. The tolerance is that of the matmul suites, 2e-2 relative and 1e-2
 * absolute. In bf16 four roundings of 2⁻⁹ stay below 0.8 % of C, but for the gate's, which silu
 * magnifies by up to |1 + x − x·σ(x)|: where that is above 3, silu is below 0.08, and atol covers it.
 *
 * @module
 */

import { SIGNIFICANT_BITS } from "../../bench/model/dtype.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import { storedPart } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import { type Axis, readAxes } from "../../bench/model/axes.ts";
import { elementsOf, type Mutant } from "../../bench/model/problem.ts";
import { packed, referenceKernels } from "../common/launch.ts";
import {
  bytesOf,
  input,
  mutants,
  output,
  without,
  wrongTile,
} from "../common/operands.ts";
import {
  linesOf,
  product,
  SampledProduct,
  storedMatrix,
} from "../common/product.ts";
import { TYPE_NUMBERS } from "../matmul/point.ts";

/** A SwiGLU product to compute. */
export interface SwigluPoint {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly type: "bf16" | "f16";
}

const AXES: readonly Axis[] = [
  { name: "m", about: "rows of X", values: "size" },
  { name: "n", about: "rows of W1 and of W2, columns of C", values: "size" },
  { name: "k", about: "columns of X", values: "size" },
  {
    name: "type",
    about: "type of X, W1, W2 and C",
    values: ["bf16", "f16"],
    default: "bf16",
    column: "a_type",
  },
];

type Bytes = Uint8Array<ArrayBuffer>;
type Sums = Float64Array<ArrayBuffer>;

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
/** The output of a gate and an up. */
const joined = (gate: number, up: number) => gate * sigmoid(gate) * up;

/** The operation. */
export const swiglu: Op<SwigluPoint> = {
  name: "swiglu",
  axes: AXES,
  point: (values) =>
    readAxes({ name: "swiglu", axes: AXES }, values) as Values & SwigluPoint,
  operands: ({ m, n, k, type }) => [
    input("X", type, [m, k]),
    input("W1", type, [n, k]),
    input("W2", type, [n, k]),
    output("C", type, [m, n]),
  ],
  inputs: (point, options) =>
    swiglu.operands(point).filter(({ role }) => role === "in").map((o, i) => {
      const unit = i === 0 ? 1 : 2 / Math.sqrt(point.k);
      const wanted = { count: elementsOf(o), type: o.type, unit };
      return storedPart({ op: "swiglu", part: o.name }, options, i, wanted);
    }),
  reference(point, inputs) {
    const { n, k, type } = point;
    const [x, ...weights] = inputs.map((bytes) =>
      linesOf(bytes, type, { ld: k, k }).row
    );
    const [gates, ups] = weights.map((row) => new SampledProduct(n, x!, row));
    return {
      all() {
        const [gate, up] = productsOf(point, inputs);
        return gate.map((x, i) => joined(x, up[i]!));
      },
      at(_, indices) {
        const up = ups!.at(indices);
        return gates!.at(indices).map((x, i) => joined(x, up[i]!));
      },
      // Errors of both sums as they come out of silu(gate) * up, to the first order.
      norms(_, rows, columns) {
        const at = rows.flatMap((i) => columns.map((j) => i * n + j));
        const [gate, up] = [gates!.at(at), ups!.at(at)];
        const ofUps = ups!.norms(rows, columns);
        return gates!.norms(rows, columns).map((ofGate, i) => {
          const [x, s] = [gate[i]!, sigmoid(gate[i]!)];
          const slope = s * (1 + x * (1 - s)) * up[i]!;
          return Math.hypot(slope * ofGate, x * s * ofUps[i]!);
        });
      },
    };
  },
  tolerance: () => ({ rtol: 2e-2, atol: 1e-2 }),
  // With gates, silus and ups rounded to the type there are 1.5 more.
  bits: ({ type }) => SIGNIFICANT_BITS[type],
  work: (point) => ({
    flops: 4 * point.m * point.n * point.k,
    bytes: bytesOf(swiglu.operands(point)),
  }),
  key({ m, n, k, type }) {
    return {
      a_type: type,
      b_type: type,
      c_type: type,
      acc_type: "f32",
      layout: "nt",
      m,
      n,
      k,
      params: formatValues({}),
    };
  },
  // (X, W1, W2, C, M, N, K)
  args(point, { X, W1, W2, C }) {
    const { m, n, k } = point;
    return packed([X, W1, W2, C, m, n, k]);
  },
  mutants: (point, inputs, right) => mutantsOf(point, inputs, right.all(0)),
  // Not a field: they take the operation, which is not made yet.
  get referenceKernels() {
    return referenceKernels(swiglu, {
      cuda: {
        source: new URL("./cuda/reference.cu", import.meta.url),
        defines: ({ type }) => ({ TYPE: type }),
      },
      cpu: {
        source: new URL("./cpu/swiglu.c", import.meta.url),
        args: ({ point, operands, device }) => [
          ...swiglu.args(point, operands),
          ...[TYPE_NUMBERS[point.type], device.info.units],
        ],
      },
    });
  },
  edgeCases: (["bf16", "f16"] as const).flatMap((type) =>
    [
      { m: 1, n: 8, k: 16 },
      { m: 3, n: 5, k: 48 },
      { m: 17, n: 33, k: 136 },
      { m: 16, n: 128, k: 512 },
      { m: 33, n: 130, k: 400 },
      { m: 2, n: 264, k: 1288 },
      // Rows that are no whole 16-byte chunks.
      { m: 5, n: 24, k: 251 },
    ].map((shape) => ({ ...shape, type }))
  ),
};

/** The gates and the ups over k in `span`. */
function productsOf(
  { m, n, k, type }: SwigluPoint,
  inputs: readonly Bytes[],
  span: readonly [number, number] = [0, k],
): readonly [gate: Sums, up: Sums] {
  const [x, w1, w2] = inputs.map((bytes) => storedMatrix(bytes, type, k));
  const of = (w: typeof x) => product({ m, n, k, layout: "nt" }, x!, w!, span);
  return [of(w1), of(w2)];
}

/** The slices of K of a split-K kernel. */
const SLICES = 16;

/** The mistakes of split-K kernels, and of kernels that join two products. */
function mutantsOf(
  point: SwigluPoint,
  inputs: readonly Bytes[],
  right: Sums,
): Mutant[] {
  const { m, n, k } = point;
  const [gate, up] = productsOf(point, inputs);
  const by = (of: (gate: number, up: number) => number) =>
    gate.map((x, i) => of(x, up[i]!));
  const slice = Math.ceil(k / SLICES);
  const [gatePart, upPart] = productsOf(point, inputs, [0, slice]);
  const [gateLess, upLess] = [without(gate, gatePart), without(up, upPart)];
  return mutants(
    ["zeros", new Float64Array(m * n)],
    ["no silu", by((x, y) => x * y)],
    ["no gate", by((_, y) => y)],
    ["no up", by((x) => joined(x, 1))],
    ["sigmoid for silu", by((x, y) => sigmoid(x) * y)],
    ["gate and up swapped", by((x, y) => joined(y, x))],
    ["ReLU for silu", by((x, y) => Math.max(x, 0) * y)],
    ["dropped K slice", gateLess.map((x, i) => joined(x, upLess[i]!))],
    ["dropped K slice of the gate", gateLess.map((x, i) => joined(x, up[i]!))],
    ["dropped K slice of the up", gate.map((x, i) => joined(x, upLess[i]!))],
    [
      "ups of the next column",
      gate.map((x, i) => joined(x, up[(i + 1) % (m * n)]!)),
    ],
    // The least of the differences: below 0.2 of an up.
    m * n >= 32 && ["GELU for silu", by((x, y) => x * sigmoid(1.702 * x) * y)],
    wrongTile(right, point),
  );
}

/**
 * C = epilogue(A · B): operands, right answer, least work and tolerance.
 *
 * Layout `nn` is A[M,K] · B[K,N], `nt` is A[M,K] · B[N,K]ᵀ, both row-major. Shapes,
 * tolerances and inputs are those of the decompose-k suites: N(0,1), and compared as
 * torch.testing.assert_close does with rtol 2e-2 and atol 1e-2 (16-bit types), 1e-4 and
 * 1e-3 (fp32). Above K = 32,768, the greatest of these suites, atol grows with √K.
 *
 * @module
 */

import { i64 } from "../../bench/device/queue.ts";
import { type Axis, readAxes } from "../../bench/model/axes.ts";
import {
  BYTES,
  decode,
  reader,
  SIGNIFICANT_BITS,
} from "../../bench/model/dtype.ts";
import { UserError } from "../../bench/model/errors.ts";
import {
  formatValues,
  type Scalar,
  type Values,
} from "../../bench/model/grid.ts";
import { storedPart } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import {
  elementsOf,
  type Mutant,
  type Reference,
  type Tolerance,
} from "../../bench/model/problem.ts";
import {
  packed,
  referenceKernels,
  type ReferenceSpec,
} from "../common/launch.ts";
import {
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
import {
  EPILOGUES,
  hasBias,
  hasRelu,
  type MatmulPoint,
  TYPE_NUMBERS,
  TYPES,
  typesOf,
} from "./point.ts";

const TOLERANCE = {
  bf16: { rtol: 2e-2, atol: 1e-2 },
  f16: { rtol: 2e-2, atol: 1e-2 },
  f32: { rtol: 1e-4, atol: 1e-3 },
} as const;

/** The K of their shapes. */
const SOURCE_K = { least: 8192, most: 32_768 };

const AXES: readonly Axis[] = [
  { name: "m", about: "rows of A", values: "size" },
  { name: "n", about: "columns of C", values: "size" },
  { name: "k", about: "columns of A", values: "size" },
  {
    name: "type",
    about: "type of A, and of B, bias and C unless they have others",
    values: TYPES,
    default: "bf16",
    column: "a_type",
  },
  {
    name: "type_b",
    about: "type of B, where it is another",
    values: TYPES,
    optional: true,
  },
  {
    name: "type_c",
    about: "type of bias and C, where it is another",
    values: TYPES,
    optional: true,
  },
  {
    name: "epilogue",
    about: "what follows the product",
    values: EPILOGUES,
    default: "none",
  },
  {
    name: "layout",
    about: "B as [K, N] (nn) or [N, K] (nt)",
    values: ["nn", "nt"],
    default: "nn",
  },
  { name: "lda", about: "row stride of A", values: "size", optional: true },
  { name: "ldb", about: "row stride of B", values: "size", optional: true },
  { name: "ldc", about: "row stride of C", values: "size", optional: true },
  {
    name: "stepc",
    about: "column stride of C, as 2 of base[:, ::2]",
    values: "size",
    default: 1,
  },
];

type Bytes = Uint8Array<ArrayBuffer>;

/** The operation. */
export const matmul: Op<MatmulPoint> = {
  name: "matmul",
  axes: AXES,
  point: readPoint,
  operands(point) {
    const { m, n, k, layout, lda, ldb, ldc, stepc } = point;
    const { a, b, c } = typesOf(point);
    const [rowsB, colsB] = layout === "nn" ? [k, n] : [n, k];
    return [
      input("A", a, [m, k, lda]),
      input("B", b, [rowsB, colsB, ldb]),
      ...(hasBias(point) ? [input("bias", c, [1, n])] : []),
      // With a column stride each element is a row of its own, and what follows it is padding.
      stepc === 1
        ? output("C", c, [m, n, ldc])
        : output("C", c, [m * n, 1, stepc]),
    ];
  },
  inputs(point, options) {
    return matmul.operands(point).filter((o) => o.role === "in").map((o, i) => {
      const wanted = { count: elementsOf(o), type: o.type };
      return storedPart({ op: "matmul", part: o.name }, options, i, wanted);
    });
  },
  reference(point, inputs) {
    const { m, n, k, layout, lda, ldb, stepc } = point;
    const types = typesOf(point);
    const [a, b, bias] = inputs as [Bytes, Bytes, Bytes?];
    const add = bias && reader(bias, types.c);
    const finish = (sum: number, column: number) => {
      const x = sum + (add ? add(column) : 0);
      return hasRelu(point) ? Math.max(x, 0) : x;
    };
    const { row } = linesOf(a, types.a, { ld: lda, k });
    const stored = linesOf(b, types.b, { ld: ldb, k });
    const column = layout === "nn" ? stored.column : stored.row;
    const looks = new SampledProduct(n, row, column);
    return {
      all() {
        const [left, right] = [
          storedMatrix(a, types.a, lda),
          storedMatrix(b, types.b, ldb),
        ];
        const sums = product({ m, n, k, layout }, left, right);
        for (let i = 0; i < sums.length; i++) sums[i] = finish(sums[i]!, i % n);
        return sums;
      },
      at: (_, indices) =>
        looks.at(indices).map((sum, i) => finish(sum, indices[i]! % n)),
      norms: (_, rows, columns) =>
        stepc === 1
          ? looks.norms(rows, columns)
          : Float64Array.from(rows, (index) => {
            const [norm] = looks.norms([Math.floor(index / n)], [index % n]);
            return norm!;
          }),
    };
  },
  tolerance,
  bits,
  work(point) {
    const { m, n, k } = point;
    const { a, b, c } = typesOf(point);
    return {
      flops: 2 * m * n * k,
      bytes: BYTES[a] * m * k + BYTES[b] * k * n + BYTES[c] * m * n,
    };
  },
  demands(point): Readonly<Record<string, string>> {
    const { a, b, c } = typesOf(point);
    const { stepc } = point;
    return {
      ...(a === b && a === c ? {} : {
        types: `A is ${a}, B is ${b} and C is ${c}: it takes one type`,
      }),
      ...(stepc === 1 ? {} : {
        stepc: `C has a column stride of ${stepc}: it writes rows without gaps`,
      }),
    };
  },
  key(point) {
    const { m, n, k, type, typeB, typeC, epilogue, layout } = point;
    const { lda, ldb, ldc, stepc } = point;
    const { b, c } = typesOf(point);
    const dense = layout === "nn" ? n : k;
    return {
      a_type: type,
      b_type: b,
      c_type: c,
      acc_type: "f32",
      layout,
      m,
      n,
      k,
      params: formatValues({
        epilogue,
        ...(typeB ? { type_b: typeB } : {}),
        ...(typeC ? { type_c: typeC } : {}),
        ...(lda === k ? {} : { lda }),
        ...(ldb === dense ? {} : { ldb }),
        ...(ldc === n * stepc ? {} : { ldc }),
        ...(stepc === 1 ? {} : { stepc }),
      }),
    };
  },
  // (A, B, [bias,] C, M, N, K, lda, ldb, ldc[, stepc])
  args(point, operands) {
    const { m, n, k, lda, ldb, ldc, stepc } = point;
    return packed([
      ...matmul.operands(point).map(({ name }) => operands[name]!),
      ...[m, n, k, lda, ldb, ldc],
      ...(stepc === 1 ? [] : [stepc]),
    ]);
  },
  mutants: mutantsOf,
  // Not a field: it takes the operation, which is not made yet.
  get referenceKernels() {
    return referenceKernels(matmul, {
      cuda: gpu({}),
      hip: gpu({ HIP: 1 }),
      cpu: {
        source: new URL("./cpu/plain.c", import.meta.url),
        args({ point, operands: { A, B, bias, C } }) {
          const { m, n, k, lda, ldb, type, layout } = point;
          return [
            ...[A, B, bias ?? C, C, m, n, k, lda, ldb, TYPE_NUMBERS[type]],
            ...[layout === "nt", hasBias(point), hasRelu(point)],
          ];
        },
      },
    });
  },
  edgeCases: edgeCases(),
};

/**
 * That of the source for the K of its shapes. The sum of K products is about √K in size, and so is
 * the error of one with as many bits as {@linkcode bits} asks for. An element may be near 0 all the
 * same, where only atol counts: for a larger K it grows with √K from the least K of the source. It
 * is then 5 deviations of the error of an fp32 product with the fewest bits.
 */
function tolerance(point: MatmulPoint): Tolerance {
  const { k } = point;
  const { rtol, atol } = TOLERANCE[coarsestOf(point)];
  if (k <= SOURCE_K.most) return { rtol, atol };
  return { rtol, atol: atol * Math.sqrt(k / SOURCE_K.least) };
}

/**
 * Sums in fp32. One accumulator of K fp32 terms has 25.8 − ½·log₂ K bits, of which one is left
 * as a margin; from 4096 terms on it is as coarse as bf16x2, and K must be split.
 *
 * Tensor cores truncate each step of 8 terms or more: 30 − log₂ K bits or more. A bias may be
 * added to a product that was rounded to the type of the output.
 */
function bits(point: MatmulPoint): number {
  const { k, epilogue } = point;
  const type = coarsestOf(point);
  if (type === "f32") {
    return Math.min(22, Math.max(18.8, 24.8 - Math.log2(k) / 2));
  }
  const own = SIGNIFICANT_BITS[type];
  return epilogue.startsWith("bias")
    ? own
    : Math.max(own, Math.min(15, 28 - Math.log2(k)));
}

/** The type of an operand with the fewest bits: products of such are what tensor cores do. */
function coarsestOf(point: MatmulPoint): MatmulPoint["type"] {
  const { a, b, c } = typesOf(point);
  return [b, c].reduce(
    (least, type) =>
      SIGNIFICANT_BITS[type] < SIGNIFICANT_BITS[least] ? type : least,
    a,
  );
}

function readPoint(values: Values): MatmulPoint {
  const read = readAxes({ name: "matmul", axes: AXES }, values) as
    & Values
    & Pick<MatmulPoint, "m" | "n" | "k" | "stepc">;
  const { m, n, k, type, type_b, type_c, epilogue, layout } = read;
  const { lda, ldb, ldc, stepc } = read;
  const other = (name: "typeB" | "typeC", value: Scalar | undefined) =>
    value === undefined || value === type ? {} : { [name]: value };
  const dense = layout === "nn" ? n : k;
  const point: MatmulPoint = {
    m,
    n,
    k,
    type: type as MatmulPoint["type"],
    ...other("typeB", type_b),
    ...other("typeC", type_c),
    epilogue: epilogue as MatmulPoint["epilogue"],
    layout: layout as MatmulPoint["layout"],
    lda: Number(lda ?? k),
    ldb: Number(ldb ?? dense),
    ldc: Number(ldc ?? n * stepc),
    stepc,
  };
  if (stepc !== 1 && point.ldc !== n * stepc) {
    throw new UserError(
      `ldc is ${point.ldc}, and with a column stride of ${stepc} rows of C lie n * stepc = ${
        n * stepc
      } apart: leave out ldc`,
    );
  }
  const least = { lda: k, ldb: dense, ldc: n };
  for (const [name, cols] of Object.entries(least)) {
    const ld = point[name as "lda" | "ldb" | "ldc"];
    if (ld < cols) {
      throw new UserError(`${name} is ${ld}, less than a row of ${cols}`);
    }
  }
  return point;
}

/** Ragged edges, single rows and columns, both layouts, padding, every epilogue and type. */
function edgeCases(): MatmulPoint[] {
  const shapes: Values[] = [
    { m: 1, n: 1, k: 1, epilogue: "none" },
    { m: 1, n: 16, k: 128, epilogue: "relu" },
    { m: 3, n: 5, k: 7, epilogue: "bias" },
    { m: 16, n: 16, k: 256, epilogue: "bias+relu" },
    { m: 17, n: 33, k: 129, epilogue: "relu" },
    { m: 64, n: 48, k: 1024, epilogue: "relu", layout: "nt" },
    { m: 31, n: 65, k: 250, epilogue: "bias+relu", layout: "nt" },
    { m: 48, n: 40, k: 512, lda: 520, ldb: 48, ldc: 41, epilogue: "none" },
    { m: 2, n: 37, k: 200, epilogue: "bias+relu", layout: "nt" },
    { m: 5, n: 30, k: 99, epilogue: "relu", layout: "nt" },
    // A width and rows that the split-K kernels for weights take.
    { m: 17, n: 64, k: 256, epilogue: "bias", layout: "nt" },
    { m: 100, n: 30, k: 96, lda: 97, ldb: 101, ldc: 30, layout: "nt" },
    // Rows start on 16 bytes and end within them.
    { m: 5, n: 24, k: 251, lda: 256, ldb: 256, layout: "nt" },
    { m: 5, n: 24, k: 251, lda: 256 },
    { m: 16, n: 100, k: 256, ldb: 104 },
    // Columns of C lie apart: rows that four would divide, and odd ones.
    { m: 5, n: 12, k: 96, stepc: 2, epilogue: "bias+relu" },
    { m: 17, n: 33, k: 512, stepc: 3, epilogue: "relu", layout: "nt" },
  ];
  return TYPES.flatMap((type) => shapes.map((s) => readPoint({ ...s, type })));
}

/** The slices of K of a split-K kernel. */
const SLICES = 16;

/** The mistakes, with the outputs that they would give at `point`. */
function mutantsOf(
  point: MatmulPoint,
  inputs: readonly Uint8Array<ArrayBuffer>[],
  right: Reference,
): Mutant[] {
  const { m, n, k, lda, ldb } = point;
  const types = typesOf(point);
  const a = storedMatrix(inputs[0]!, types.a, lda);
  const b = storedMatrix(inputs[1]!, types.b, ldb);
  const bias = inputs[2] && decode(inputs[2], types.c);
  const relu = hasRelu(point);
  const finish = (sums: Float64Array<ArrayBuffer>, clamp = relu) =>
    sums.map((sum, i) => {
      const x = sum + (bias ? bias[i % n]! : 0);
      return clamp ? Math.max(x, 0) : x;
    });
  const slice = Math.ceil(k / SLICES);
  const sums = product(point, a, b);
  const first = product(point, a, b, [0, slice]);
  return mutants(
    ["zeros", new Float64Array(m * n)],
    slice < k && ["first slice only", finish(first)],
    slice < k && ["dropped K slice", finish(without(sums, first))],
    wrongTile(right.all(0), point),
    relu && m * n > 1 && ["no ReLU", finish(sums, false)],
    bias !== undefined &&
      ["no bias", sums.map((x) => relu ? Math.max(x, 0) : x)],
  );
}

/** The reference kernel for GPUs: a warp, or a wave, writes an element of C as f64. */
function gpu(macros: { readonly HIP?: 1 }): ReferenceSpec<MatmulPoint> {
  return {
    source: new URL("./reference.cu", import.meta.url),
    defines: ({ type }) => ({ TYPE: type, ...macros }),
    args({ point, operands: { A, B, bias, C } }) {
      const { m, n, k, lda, ldb, layout } = point;
      const steps = layout === "nn" ? [ldb, 1] : [1, ldb];
      return [
        ...[A, B, bias, C, m, n, k],
        ...[lda, ...steps].map(i64),
        hasRelu(point),
      ];
    },
  };
}

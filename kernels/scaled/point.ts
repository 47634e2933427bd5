/**
 * The points of {@linkcode scaledMatmul}: their scales, operands as numbers, and wrong answers.
 *
 * @module
 */

import { e4m3 } from "../../bench/formats/minifloat.ts";
import { decode, type DType, encode } from "../../bench/model/dtype.ts";
import { type InputOptions, values } from "../../bench/model/inputs.ts";
import type { Mutant } from "../../bench/model/problem.ts";
import { mutants, without, wrongTile } from "../common/operands.ts";
import { product, rowsMatrix } from "../common/product.ts";

/** The part of an operand that shares a scale. C and CUDA sources number them in this order. */
export const SCALES = ["tensor", "row", "block128"] as const;
/** The side of a block that shares a scale. */
export const BLOCK = 128;

/** A scaled FP8 matmul to compute. */
export interface ScaledPoint {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly scale: "tensor" | "row" | "block128";
}

type Inputs = readonly Uint8Array<ArrayBuffer>[];

/** The storage of the scales of an operand, and the scale of its element (row, column). */
interface ScaleLayout {
  readonly rows: number;
  readonly cols: number;
  readonly ld: number;
  at(row: number, column: number): number;
}

/** The scales of A and of B. */
export function scaleLayouts(
  { m, n, k, scale }: ScaledPoint,
): { readonly a: ScaleLayout; readonly b: ScaleLayout } {
  if (scale === "tensor") {
    const one: ScaleLayout = { rows: 1, cols: 1, ld: 1, at: () => 0 };
    return { a: one, b: one };
  }
  if (scale === "row") {
    const rows = (count: number): ScaleLayout => ({
      rows: count,
      cols: 1,
      ld: 1,
      at: (row) => row,
    });
    return { a: rows(m), b: rows(n) };
  }
  const blocks = Math.ceil(k / BLOCK);
  // cuBLASLt: rows of the blocks' scales start at multiples of four scales.
  const ld = Math.ceil(blocks / 4) * 4;
  return {
    a: {
      rows: blocks,
      cols: m,
      ld: m,
      at: (row, column) => Math.floor(column / BLOCK) * m + row,
    },
    b: {
      rows: Math.ceil(n / BLOCK),
      cols: blocks,
      ld,
      at: (row, column) =>
        Math.floor(row / BLOCK) * ld + Math.floor(column / BLOCK),
    },
  };
}

/**
 * Random values times `unit`, quantised as DeepSeek-V3 does: a scale is the greatest magnitude
 * of its values over 448. It is then multiplied by 1/2 to 2, as if these had been larger.
 */
export function quantised(
  options: InputOptions,
  tensor: number,
  { rows, k, layout, unit }: {
    readonly rows: number;
    readonly k: number;
    readonly layout: ScaleLayout;
    readonly unit: number;
  },
) {
  // In fp32, which holds them exactly.
  const x = new Float32Array(rows * k);
  const count = layout.rows * layout.ld;
  const most = new Float64Array(count);
  for (let row = 0; row < rows; row++) {
    const own = values(options, tensor, k, row * k);
    x.set(own, row * k);
    for (let from = 0; from < k; from += BLOCK) {
      const scale = layout.at(row, from);
      const end = Math.min(k, from + BLOCK);
      let top = most[scale]!;
      for (let p = from; p < end; p++) top = Math.max(top, Math.abs(own[p]!));
      most[scale] = top;
    }
  }
  const gains = values({ ...options, fill: "uniform" }, tensor + 2, count);
  const scales = most.map((top, i) =>
    (top || e4m3.max) / e4m3.max * 2 ** gains[i]! * unit
  );
  const codes = new Uint8Array(rows * k);
  for (let row = 0; row < rows; row++) {
    for (let from = 0; from < k; from += BLOCK) {
      const end = Math.min(k, from + BLOCK);
      const top = most[layout.at(row, from)] || 1;
      for (let at = row * k + from; at < row * k + end; at++) {
        codes[at] = e4m3.encode(x[at]! * e4m3.max / top);
      }
    }
  }
  return { codes, scales: encode(scales, "f32") };
}

/** What mutants read in the place of what is stored. */
interface Reading {
  readonly type?: DType;
  readonly scaleA?: Float64Array;
  readonly scaleB?: Float64Array;
}

/** Functions that return a row of A and of B in double precision, times its scales. */
export function rowsOf(
  point: ScaledPoint,
  [codesA, codesB, storedA, storedB]: Inputs,
  { type = "e4m3", ...scales }: Reading = {},
) {
  const { a, b } = scaleLayouts(point);
  const { k } = point;
  const of = (
    codes: Uint8Array<ArrayBuffer>,
    scales: Float64Array,
    { at }: ScaleLayout,
  ) =>
  (row: number) => {
    const values = decode(codes.subarray(row * k, (row + 1) * k), type);
    for (let from = 0; from < k; from += BLOCK) {
      const times = scales[at(row, from)]!;
      const end = Math.min(k, from + BLOCK);
      for (let p = from; p < end; p++) values[p]! *= times;
    }
    return values;
  };
  return {
    a: of(codesA!, scales.scaleA ?? decode(storedA!, "f32"), a),
    b: of(codesB!, scales.scaleB ?? decode(storedB!, "f32"), b),
  };
}

/** The sums over k in [`from`, `to`) of products of rows of A and of B. */
export function productOf(
  { m, n, k }: ScaledPoint,
  { a, b }: ReturnType<typeof rowsOf>,
  [from, to]: readonly [number, number] = [0, k],
): Float64Array<ArrayBuffer> {
  return product(
    { m, n, k, layout: "nt" },
    rowsMatrix(k, a),
    rowsMatrix(k, b),
    [from, to],
  );
}

/** The mistakes of split-K kernels, and of kernels that decode and scale FP8. */
export function mutantsOf(
  point: ScaledPoint,
  inputs: Inputs,
  answer: Float64Array<ArrayBuffer>,
): Mutant[] {
  const { m, n, k, scale } = point;
  const rows = rowsOf(point, inputs);
  const layouts = scaleLayouts(point);
  const [scaleA, scaleB] = inputs.slice(2).map((bytes) => decode(bytes, "f32"));
  const of = (reading: Reading) =>
    productOf(point, rowsOf(point, inputs, reading));
  const less = (from: number, to: number) =>
    without(answer, productOf(point, rows, [from, to]));
  const next = (scales: Float64Array, { rows, cols, ld }: ScaleLayout) =>
    scales.map((_, i) => {
      const [row, col] = [Math.floor(i / ld), i % ld];
      return cols > 1
        ? scales[row * ld + (col + 1) % cols]!
        : scales[(row + 1) % rows]!;
    });
  const isMany = ({ rows, cols }: ScaleLayout) => rows * cols > 1;
  const { a: layoutA, b: layoutB } = layouts;
  return mutants(
    ["zeros", new Float64Array(m * n)],
    ["read as E5M2", of({ type: "e5m2" })],
    ["no scale of A", of({ scaleA: scaleA!.map(() => 1) })],
    ["no scale of B", of({ scaleB: scaleB!.map(() => 1) })],
    wrongTile(answer, point),
    k > BLOCK && ["dropped first block", less(0, BLOCK)],
    k > BLOCK &&
      ["dropped last block", less(Math.floor((k - 1) / BLOCK) * BLOCK, k)],
    isMany(layoutA) &&
      ["next scale of A", of({ scaleA: next(scaleA!, layoutA) })],
    isMany(layoutB) &&
      ["next scale of B", of({ scaleB: next(scaleB!, layoutB) })],
    scale === "block128" && layoutA.rows > 1 && m > 1 &&
      [
        "transposed scales of A",
        of({
          scaleA: scaleA!.map((_, i) =>
            scaleA![i % m * layoutA.rows + Math.floor(i / m)]!
          ),
        }),
      ],
    // Each row of A by a scale of B, and the other way around.
    scale === "row" && m > 1 && n > 1 &&
      [
        "swapped scales",
        of({
          scaleA: scaleA!.map((_, i) => scaleB![i % n]!),
          scaleB: scaleB!.map((_, i) => scaleA![i % m]!),
        }),
      ],
  );
}

/**
 * The weights of a quantised product: made once, read row by row.
 *
 * At 8192 × 8192 they are 67 million: no array of all of them in full precision is made.
 *
 * @module
 */

import { decode, encode, reader } from "../../bench/model/dtype.ts";
import {
  dequantise,
  dequantiseAffine,
  dequantiseMicroscale,
  quantise,
} from "../../bench/formats/quantise.ts";
import {
  type InputOptions,
  remembered,
  values,
} from "../../bench/model/inputs.ts";
import { type QmmPoint, weightShape } from "./point.ts";

/** Stored weights as bytes: codes, scales, and biases in affine mode. */
type StoredWeights = readonly Uint8Array<ArrayBuffer>[];

/** Tensor 0 of the generator is the activations; the weights are one. */
const TENSOR = 1;

/** N(0, 1/K) rounded to the point's type, then quantised. Nobody may write to them. */
export function storedWeights(
  point: QmmPoint,
  options: InputOptions,
): StoredWeights {
  // A suite has the same ones at many values of M.
  const { m: _, ...rest } = point;
  return remembered(
    { op: "qmm", part: "weights", of: { rest, options } },
    () => makeWeights(point, options),
  );
}

function makeWeights(point: QmmPoint, options: InputOptions): StoredWeights {
  const { rows, cols } = weightShape(point);
  const unit = 1 / Math.sqrt(point.k);
  let stored: StoredWeights = [];
  for (let row = 0; row < rows; row++) {
    const made = values(options, TENSOR, cols, row * cols);
    for (let i = 0; i < cols; i++) made[i]! *= unit;
    const w = new Float32Array(decode(encode(made, point.type), point.type));
    const { packed, scales, biases } = quantise(w, point, point.type);
    const parts = biases ? [packed, scales, biases] : [packed, scales];
    if (row === 0) {
      stored = parts.map(({ length }) => new Uint8Array(length * rows));
    }
    parts.forEach((part, i) => stored[i]!.set(part, row * part.length));
  }
  return stored;
}

type Read = (index: number) => number;

/** Stored weights, as the values that they stand for. */
export class Weights {
  readonly #parts: readonly { bytes: Uint8Array<ArrayBuffer>; row: number }[];
  /** Scales and biases, in affine mode. */
  readonly #affine: readonly Read[];
  /** Groups of a row. */
  readonly #groups: number;

  constructor(readonly point: QmmPoint, stored: StoredWeights) {
    const { rows, cols } = weightShape(point);
    this.#parts = stored.map((bytes) => ({ bytes, row: bytes.length / rows }));
    this.#groups = cols / point.group;
    this.#affine = point.mode === "affine"
      ? stored.slice(1).map((bytes) => reader(bytes, point.type))
      : [];
  }

  /** The fp32 values of stored row `row`. */
  row(row: number): Float32Array<ArrayBuffer> {
    const [packed, scales, biases] = this.#parts.map(
      ({ bytes, row: length }) =>
        bytes.subarray(row * length, (row + 1) * length),
    );
    const stored = { packed: packed!, scales: scales! };
    const { cols: count } = weightShape(this.point);
    const { type } = this.point;
    return dequantise(
      biases ? { ...stored, biases } : stored,
      this.point,
      { type, count },
    );
  }

  /** The values by which a row of activations is multiplied for output `column`. */
  column(column: number): ArrayLike<number> {
    const { k, transposed } = this.point;
    if (transposed) return this.row(column);
    const values = new Float64Array(k);
    for (let p = 0; p < k; p++) values[p] = this.#at(p, column);
    return values;
  }

  /** The value at (`row`, `col`) of what is stored. */
  #at(row: number, col: number): number {
    const { mode, bits, group } = this.point;
    const [packed, scales] = this.#parts;
    const bit = col * bits;
    const byte = row * packed!.row + (bit >> 3);
    const word = packed!.bytes[byte]! | packed!.bytes[byte + 1]! << 8;
    const code = word >> (bit & 7) & (1 << bits) - 1;
    const at = row * this.#groups + Math.floor(col / group);
    if (mode !== "affine") {
      return dequantiseMicroscale(code, mode, scales!.bytes[at]!);
    }
    const [scale, bias] = this.#affine as [Read, Read];
    return dequantiseAffine(code, { scale: scale(at), bias: bias(at) });
  }
}

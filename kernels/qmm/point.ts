/**
 * The points of {@linkcode qmm}: a product's shape, its weights' format and orientation.
 *
 * @module
 */

import type { Memory } from "../../bench/device/queue.ts";
import {
  CHANNEL,
  demandGroups,
  isChannel,
  MODES,
  type QuantFormat,
  quantFormat,
} from "../../bench/formats/quant_format.ts";
import type { Values } from "../../bench/model/grid.ts";
import { type Axis, readAxes } from "../../bench/model/axes.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { TYPE_NUMBERS } from "../matmul/point.ts";

/** The types of activations, of outputs, and of affine scales and biases. */
export const TYPES = ["f16", "bf16"] as const;

/** A quantised product to compute. */
export interface QmmPoint extends QuantFormat {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly type: "f16" | "bf16";
  /** Whether weights are stored as W[N,K], groups along K; else as W[K,N], along N. */
  readonly transposed: boolean;
}

/** Rows of stored weights and weights of a row. */
export function weightShape(
  { n, k, transposed }: Pick<QmmPoint, "n" | "k" | "transposed">,
): { readonly rows: number; readonly cols: number } {
  return transposed ? { rows: n, cols: k } : { rows: k, cols: n };
}

/** Weights that kernels decode by one scale at a time: a group, or a part of a whole row. */
export interface Block {
  readonly GROUP: number;
  /** 1 where a row has one scale, else absent. */
  readonly CHANNEL?: 1;
}

/** The most weights of a {@linkcode Block}: the largest group of MLX. */
const MOST_GROUP = 128;

/**
 * The block of a format. A row of one scale is whole blocks as long as one of MLX's groups, so
 * kernels differ by where they find a scale alone.
 */
export function blockOf(format: QuantFormat): Block {
  if (!isChannel(format)) return { GROUP: format.group };
  const GROUP = [MOST_GROUP, 64].find((size) => format.group % size === 0) ??
    32;
  return { GROUP, CHANNEL: 1 };
}

/** The axes. `bits` and `group` default to the mode's own. */
export const AXES: readonly Axis[] = [
  { name: "m", about: "rows of x", values: "size" },
  { name: "n", about: "columns of y", values: "size" },
  { name: "k", about: "columns of x", values: "size" },
  {
    name: "type",
    about: "type of x, y, affine scales and biases",
    values: TYPES,
    default: "bf16",
    column: "a_type",
  },
  {
    name: "layout",
    about: "weights as [N, K] (nt) or [K, N] (nn)",
    values: ["nt", "nn"],
    default: "nt",
  },
  {
    name: "mode",
    about: "MLX quantisation mode",
    values: MODES,
    default: "affine",
  },
  { name: "bits", about: "bits of a code", values: "size", optional: true },
  {
    name: "group",
    about: "weights that share a scale; channel: all of a row of W",
    values: "size",
    words: [CHANNEL],
    optional: true,
  },
];

/** The point that `values` name. @throws {UserError} Where there is no such product. */
export function readPoint(values: Values): QmmPoint {
  const read = readAxes({ name: "qmm", axes: AXES }, values);
  const { m, n, k, type, layout, mode, bits, group } = read;
  const shape = {
    m: Number(m),
    n: Number(n),
    k: Number(k),
    type: type as QmmPoint["type"],
    transposed: layout === "nt",
  };
  const { cols } = weightShape(shape);
  const format = quantFormat({ mode: mode!, bits, group }, cols);
  demandGroups(format, cols);
  return { ...shape, ...format };
}

/** Every mode, width and group; ragged edges; K's of odd numbers of groups; one of all. */
export function edgeCases(): QmmPoint[] {
  const shapes: Values[] = [
    { m: 1, n: 1, k: 64 },
    { m: 1, n: 96, k: 2048 },
    { m: 3, n: 5, k: 192 },
    { m: 17, n: 33, k: 320 },
    { m: 20, n: 67, k: 576, bits: 4, group: 32 },
    { m: 12, n: 40, k: 1408, bits: 4, group: 128 },
    { m: 33, n: 130, k: 640, bits: 8, group: 128 },
    { m: 2, n: 7, k: 96, bits: 3, group: 32 },
    { m: 5, n: 66, k: 448, bits: 5, group: 64 },
    { m: 9, n: 31, k: 384, bits: 6, group: 128 },
    { m: 64, n: 64, k: 256, bits: 2, group: 64 },
    { m: 4, n: 35, k: 224, mode: "mxfp4" },
    { m: 31, n: 65, k: 1056, mode: "mxfp4" },
    { m: 7, n: 128, k: 352, mode: "mxfp8" },
    { m: 32, n: 19, k: 32, mode: "mxfp8" },
    { m: 8, n: 128, k: 48, mode: "nvfp4" },
    { m: 11, n: 37, k: 1040, mode: "nvfp4" },
    { m: 1, n: 64, k: 37, layout: "nn" },
    { m: 13, n: 192, k: 131, layout: "nn", bits: 4, group: 32 },
    { m: 4, n: 384, k: 77, layout: "nn", bits: 3, group: 128 },
    { m: 3, n: 160, k: 300, layout: "nn", mode: "mxfp4" },
    { m: 6, n: 32, k: 65, layout: "nn", mode: "mxfp8" },
    { m: 2, n: 144, k: 129, layout: "nn", mode: "nvfp4" },
    { m: 3, n: 37, k: 416, bits: 4, group: CHANNEL },
    { m: 18, n: 70, k: 1152, bits: 8, group: CHANNEL },
    { m: 2, n: 320, k: 53, layout: "nn", bits: 4, group: CHANNEL },
  ];
  return TYPES.flatMap((type) =>
    shapes.map((shape) => readPoint({ ...shape, type }))
  );
}

/** `w, scales, biases`: where there are no biases, some memory that is not read. */
export function weightMemory(
  { w, scales, biases }: Operands,
): readonly (Memory | undefined)[] {
  return [w, scales, biases ?? scales];
}

/** `mode, bits, group, type`. */
export function formatArgs(
  { mode, bits, group, type }: QmmPoint,
): readonly number[] {
  return [MODES.indexOf(mode), bits, group, TYPE_NUMBERS[type]];
}

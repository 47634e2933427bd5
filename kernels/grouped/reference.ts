/**
 * The products of a list in double precision, by definition: on the host, and, where the host would
 * take too long, by plain kernels, which write each C as it is stored, unrounded.
 *
 * @module
 */

import { blockedOffset } from "../../bench/formats/blocked_scales.ts";
import { e2m1, e4m3 } from "../../bench/formats/minifloat.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { referenceKernels } from "../common/launch.ts";
import { norms } from "../common/norms.ts";
import {
  BLOCK,
  type GroupedPoint,
  realProblems,
  type Sizes,
  uploadedTable,
} from "./point.ts";

/** A stored matrix of `rows` of `k`. */
export interface Nvfp4 {
  readonly codes: Uint8Array;
  readonly scales: Uint8Array;
  readonly k: number;
}

/** The values of row `row`. NaN scales give NaN. */
function rowOf(
  { codes, scales, k }: Nvfp4,
  row: number,
): Float64Array<ArrayBuffer> {
  const values = new Float64Array(k);
  const start = row * k / 2;
  const blocks = k / BLOCK;
  for (let block = 0; block < blocks; block++) {
    const scale = e4m3.values[scales[blockedOffset(row, block, blocks)]!]!;
    for (let i = block * BLOCK; i < (block + 1) * BLOCK; i += 2) {
      const byte = codes[start + i / 2]!;
      values[i] = scale * e2m1.values[byte & 15]!;
      values[i + 1] = scale * e2m1.values[byte >> 4]!;
    }
  }
  return values;
}

/** A problem with its stored operands. */
export interface Problem extends Sizes {
  readonly a: Nvfp4;
  readonly b: Nvfp4;
}

/** The layout of C, and the part of K that is summed. */
interface Wish {
  readonly layout: GroupedPoint["layout"];
  /** Elements of K before the first and after the last. @default {all} */
  readonly range?: readonly [number, number];
}

/** C, in the order in which it is stored. */
export function product(
  { m, n, k, a, b }: Problem,
  { layout, range: [from, to] = [0, k] }: Wish,
): Float64Array<ArrayBuffer> {
  const c = new Float64Array(m * n);
  const rows = Array.from({ length: m }, (_, i) => rowOf(a, i));
  const [stepM, stepN] = layout === "nt" ? [n, 1] : [1, m];
  for (let j = 0; j < n; j++) {
    const w = rowOf(b, j);
    for (let i = 0; i < m; i++) {
      const x = rows[i]!;
      let sum = 0;
      for (let p = from; p < to; p++) sum += x[p]! * w[p]!;
      c[i * stepM + j * stepN] = sum;
    }
  }
  return c;
}

/** √Σ(a·b)² of elements of C, at rows and columns of how it is stored. */
export function normsAt(
  { a, b }: Problem,
  layout: GroupedPoint["layout"],
  rows: readonly number[],
  columns: readonly number[],
): Float64Array<ArrayBuffer> {
  const [x, w] = layout === "nt" ? [a, b] : [b, a];
  return norms(rows.map((i) => rowOf(x, i)), columns.map((j) => rowOf(w, j)));
}

/** The elements of C that are stored at `indices`. */
export function productAt(
  { m, n, k, a, b }: Problem,
  layout: GroupedPoint["layout"],
  indices: readonly number[],
): Float64Array<ArrayBuffer> {
  return Float64Array.from(indices, (index) => {
    const [i, j] = layout === "nt"
      ? [Math.floor(index / n), index % n]
      : [index % m, Math.floor(index / m)];
    const [x, w] = [rowOf(a, i), rowOf(b, j)];
    let sum = 0;
    for (let p = 0; p < k; p++) sum += x[p]! * w[p]!;
    return sum;
  });
}

/** Rows and columns of C that a block of the CUDA reference computes. */
const TILE = 32;

/** The plain kernels of `op` for CUDA and the CPU. */
export function groupedReferences(
  op: Op<GroupedPoint>,
): readonly Kernel<GroupedPoint>[] {
  return referenceKernels(op, {
    cuda: {
      source: new URL("./cuda/reference.cu", import.meta.url),
      args: (site) => [uploadedTable(site), site.point.layout !== "nt"],
      shape(point) {
        const problems = realProblems(point);
        const tiles = (of: "m" | "n") =>
          Math.max(...problems.map((p) => Math.ceil(p[of] / TILE)));
        return {
          grid: [tiles("n"), tiles("m"), problems.length],
          block: [TILE, 8, 1],
        };
      },
    },
    cpu: {
      source: new URL("./cpu/reference.c", import.meta.url),
      args: (site) => [
        uploadedTable(site),
        realProblems(site.point).length,
        site.point.layout !== "nt",
      ],
    },
  });
}

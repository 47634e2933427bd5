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
import { product, rowsMatrix, SampledProduct } from "../common/product.ts";
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
export function productOf(
  problem: Problem,
  { layout, range }: Wish,
): Float64Array<ArrayBuffer> {
  const { k } = problem;
  const { m, n, a, b } = asStored(problem, layout);
  return product(
    { m, n, k, layout: "nt" },
    rowsMatrix(k, (row) => rowOf(a, row)),
    rowsMatrix(k, (row) => rowOf(b, row)),
    range,
  );
}

/** Looks at elements of C, as it is stored. */
export function looksOf(
  problem: Problem,
  layout: GroupedPoint["layout"],
): SampledProduct {
  const { n, a, b } = asStored(problem, layout);
  return new SampledProduct(n, (row) => rowOf(a, row), (row) => rowOf(b, row));
}

/** `problem`, or the one that gives its C transposed where that is stored. */
function asStored(problem: Problem, layout: GroupedPoint["layout"]): Problem {
  if (layout === "nt") return problem;
  const { m, n, a, b } = problem;
  return { ...problem, m: n, n: m, a: b, b: a };
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

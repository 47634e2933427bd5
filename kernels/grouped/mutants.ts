/**
 * Wrong products that a check must reject: mistakes of kernels that read NVFP4, of split-K
 * kernels, and of those that mix up problems.
 *
 * @module
 */

import { blockedOffset } from "../../bench/formats/blocked_scales.ts";
import type { Mutant, Reference } from "../../bench/model/problem.ts";
import { type Nvfp4, type Problem, productOf } from "./reference.ts";
import { BLOCK, type GroupedPoint } from "./point.ts";

/** The problems of a point and their right answers. */
interface Right {
  readonly problems: readonly Problem[];
  readonly right: Reference;
}

/** The mistakes, with the outputs that they would give at `point`. */
export function mutantsOf(
  { layout }: GroupedPoint,
  { problems, right }: Right,
): Mutant[] {
  const answers = problems.map((_, i) => right.all(i));
  // The largest: a mistake in one problem is a mistake.
  const size = ({ m, n, k }: Problem) => m * n * k;
  const at = problems.reduce(
    (best, p, i) => size(p) > size(problems[best]!) ? i : best,
    0,
  );
  const problem = problems[at]!;
  const found: Mutant[] = [];
  const add = (name: string, output: Float64Array<ArrayBuffer>) => {
    const outputs = answers.map((own, i) => i === at ? output : own);
    found.push({ name, outputs });
  };
  const with_ = (changed: Partial<Problem>) =>
    productOf({ ...problem, ...changed }, { layout });
  const { k, a, b, m, n } = problem;
  add("zeros", new Float64Array(m * n));
  add("nibbles swapped", with_({ b: { ...b, codes: b.codes.map(swapped) } }));
  if (k > BLOCK) {
    const part = productOf(problem, { layout, range: [k - BLOCK, k] });
    add("dropped last block", answers[at]!.map((x, i) => x - part[i]!));
    add("scales of the next block", with_({ b: nextBlock(b, n) }));
    add("row-major scales", with_({ b: rowMajor(b, n) }));
  }
  if (m > 1) add("A's first row for all", with_({ a: firstRow(a, m) }));
  return found;
}

function swapped(byte: number): number {
  return byte >> 4 | (byte & 15) << 4;
}

function rescaled(
  matrix: Nvfp4,
  rows: number,
  of: (row: number, block: number, blocks: number) => number,
): Nvfp4 {
  const blocks = matrix.k / BLOCK;
  const scales = new Uint8Array(matrix.scales.length);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      scales[blockedOffset(row, block, blocks)] = matrix
        .scales[of(row, block, blocks)]!;
    }
  }
  return { ...matrix, scales };
}

function nextBlock(matrix: Nvfp4, rows: number): Nvfp4 {
  return rescaled(
    matrix,
    rows,
    (row, block, blocks) => blockedOffset(row, (block + 1) % blocks, blocks),
  );
}

function rowMajor(matrix: Nvfp4, rows: number): Nvfp4 {
  return rescaled(matrix, rows, (row, block, blocks) => row * blocks + block);
}

function firstRow({ codes, scales, k }: Nvfp4, rows: number): Nvfp4 {
  const copied = new Uint8Array(codes.length);
  for (let row = 0; row < rows; row++) {
    copied.set(codes.subarray(0, k / 2), row * k / 2);
  }
  return { codes: copied, scales, k };
}

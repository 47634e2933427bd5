/**
 * C = A · Bᵀ for each of a list of problems, NVFP4 operands, fp16 results: operands, right
 * answer, least work and tolerance.
 *
 * Semantics, inputs and tolerance are those of the GPU MODE competition's grouped GEMM
 * (`nvfp4_group_gemm`): each problem has operands of its own, scales are E4M3 in the
 * blocked layout, rtol and atol 1e-3. With the inputs of its generator all partial sums are
 * multiples of 1/4 below 2²², so any order of fp32 sums gives the same bits.
 *
 * @module
 */

import {
  blockedBytes,
  blockedOffset,
  blockedPlace,
  type ScaleShape,
} from "../../bench/formats/blocked_scales.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { type InputOptions, mix } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import { packed } from "../common/launch.ts";
import { input, output } from "../common/operands.ts";
import {
  AXES,
  BLOCK,
  edgeCases,
  formatList,
  type GroupedPoint,
  readPoint,
  realProblems,
} from "./point.ts";
import {
  groupedReferences,
  looksOf,
  type Nvfp4,
  type Problem,
  productOf,
} from "./reference.ts";
import type { Mutant, Reference } from "../../bench/model/problem.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of tensor number `tensor`: `of` each word of the generator of `bench/model/inputs.ts`. */
function made(
  { seed }: InputOptions,
  { tensor, bytes, of }: {
    tensor: number;
    bytes: number;
    of: (word: number) => number;
  },
): Bytes {
  const key = mix(mix(seed >>> 0) + Math.imul(tensor + 1, 0x9e3779b9) | 0);
  const words = new Uint32Array(Math.ceil(bytes / 4));
  for (let i = 0; i < words.length; i++) words[i] = of(mix(i ^ key));
  return new Uint8Array(words.buffer, 0, bytes);
}

/**
 * Packed codes. `normal` fill are the competition's ±{0, 0.5, 1, 1.5}, bit 2 of each
 * nibble cleared; other fills have all sixteen codes.
 */
function codes(
  options: InputOptions,
  tensor: number,
  bytes: number,
): Bytes {
  const mask = options.fill === "normal" ? 0xbbbbbbbb : 0xffffffff;
  return made(options, { tensor, bytes, of: (word) => word & mask });
}

/**
 * Blocked E4M3 scales, padding 0. `normal` fill are the competition's 1 and 2; other fills
 * have all mantissas from 0.5 to 3.75.
 */
function scales(
  options: InputOptions,
  tensor: number,
  { rows, cols }: ScaleShape,
): Bytes {
  const [high, wide] = [Math.ceil(rows / 128) * 128, Math.ceil(cols / 4) * 4];
  const of = options.fill === "normal"
    ? (word: number) => 0x38383838 + 8 * (word & 0x01010101)
    : (word: number) =>
      0x30303030 + (word & 0x0f0f0f0f) + 8 * (word >>> 4 & 0x01010101);
  const bytes = made(options, { tensor, bytes: high * wide, of });
  if (rows === high && cols === wide) return bytes;
  for (let i = 0; i < bytes.length; i++) {
    const { row, col } = blockedPlace(i, cols);
    if (row >= rows || col >= cols) bytes[i] = 0;
  }
  return bytes;
}

/** Stored bytes of a row of the blocked layout's tiles, for operands' shapes. */
const TILE_BYTES = 512;

/** The problems with their part of `inputs`, which are in the order of the operands. */
function problemsOf(
  point: GroupedPoint,
  inputs: readonly Uint8Array<ArrayBuffer>[],
): Problem[] {
  return realProblems(point).map((sizes, i) => {
    const [a, sfa, b, sfb] = inputs.slice(4 * i, 4 * i + 4);
    const { k } = sizes;
    return {
      ...sizes,
      a: { codes: a!, scales: sfa!, k },
      b: { codes: b!, scales: sfb!, k },
    };
  });
}

/** The operation. */
export const groupedMatmul: Op<GroupedPoint> = {
  name: "grouped-matmul",
  axes: AXES,
  point: readPoint,
  // For each problem A[m,k/2], SFA, B[n,k/2], SFB, and C[m,n], or C[n,m] where M-major.
  operands(point) {
    return realProblems(point).flatMap(({ m, n, k, group }) => {
      const tiles = (rows: number): [number, number] => [
        blockedBytes({ rows, cols: k / BLOCK }) / TILE_BYTES,
        TILE_BYTES,
      ];
      return [
        input(`A${group}`, "e2m1x2", [m, k / 2]),
        input(`SFA${group}`, "e4m3", tiles(m)),
        input(`B${group}`, "e2m1x2", [n, k / 2]),
        input(`SFB${group}`, "e4m3", tiles(n)),
        output(`C${group}`, "f16", point.layout === "nt" ? [m, n] : [n, m]),
      ];
    });
  },
  inputs(point, options) {
    return realProblems(point).flatMap(({ m, n, k }, i) => [
      codes(options, 4 * i, m * k / 2),
      scales(options, 4 * i + 1, { rows: m, cols: k / BLOCK }),
      codes(options, 4 * i + 2, n * k / 2),
      scales(options, 4 * i + 3, { rows: n, cols: k / BLOCK }),
    ]);
  },
  reference(point, inputs) {
    const { layout } = point;
    const problems = problemsOf(point, inputs);
    const looks = problems.map((problem) => looksOf(problem, layout));
    return {
      all: (output) => productOf(problems[output]!, { layout }),
      at: (output, indices) => looks[output]!.at(indices),
      norms: (output, rows, columns) => looks[output]!.norms(rows, columns),
    };
  },
  tolerance: () => ({ rtol: 1e-3, atol: 1e-3 }),
  // Partial sums in fp16 have 12: the terms of `normal` fill are exact, others are summed in fp32.
  bits: () => 13,
  work(point) {
    let [flops, bytes] = [0, 0];
    for (const { m, n, k } of realProblems(point)) {
      flops += 2 * m * n * k;
      bytes += (m + n) * (k / 2 + k / BLOCK) + 2 * m * n;
    }
    // Products of two such numbers are exact in fp16, and few devices have FP4 units.
    return { flops, bytes, type: "f16" };
  },
  key({ problems, layout }) {
    const [m, n, k] = (["m", "n", "k"] as const).map((name) =>
      problems.map((sizes) => sizes[name])
    ) as [number[], number[], number[]];
    const lists = { m: formatList(m), n: formatList(n), k: formatList(k) };
    return {
      a_type: "e2m1x2",
      b_type: "e2m1x2",
      c_type: "f16",
      acc_type: "f32",
      layout,
      m: m.reduce((sum, rows) => sum + rows, 0),
      n: Math.max(...n),
      k: Math.max(...k),
      params: formatValues({ groups: problems.length, ...lists }),
    };
  },
  // For each problem (A, SFA, B, SFB, C, M, N, K).
  args(point, operands) {
    return packed(
      realProblems(point).flatMap(({ m, n, k, group }) => [
        ...["A", "SFA", "B", "SFB", "C"].map((name) =>
          operands[`${name}${group}`]
        ),
        ...[m, n, k],
      ]),
    );
  },
  mutants: (point, inputs, right) =>
    mutantsOf(point, { problems: problemsOf(point, inputs), right }),
  // Not a field: it takes the operation, which is not made yet.
  get referenceKernels() {
    return groupedReferences(groupedMatmul);
  },
  edgeCases: edgeCases(),
};

/** The problems of a point and their right answers. */
interface Right {
  readonly problems: readonly Problem[];
  readonly right: Reference;
}

/** The mistakes, with the outputs that they would give at `point`. */
function mutantsOf(
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

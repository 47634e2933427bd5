/**
 * The points of {@linkcode groupedMatmul}: lists of problems, edge cases, and the lists of the
 * GPU MODE competition (`nvfp4_group_gemm`).
 *
 * A list is text with `+` between its numbers, since a comma separates the values of an
 * axis: `--axis m=80+176`. One number stands for all problems.
 *
 * @module
 */

import type { Memory } from "../../bench/device/queue.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Scalar, Values } from "../../bench/model/grid.ts";
import { type Axis, readAxes } from "../../bench/model/axes.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { structs, uploaded } from "../common/launch.ts";

/** C = A · Bᵀ for A[m,k] and B[n,k]. */
export interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The layouts of each C: rows of N, or rows of M (its transpose). */
const LAYOUTS = ["nt", "nt-mmajor"] as const;

/** A list of products to compute in one call. */
export interface GroupedPoint {
  /** At least one; one with m = 0 has nothing to compute. */
  readonly problems: readonly {
    readonly m: number;
    readonly n: number;
    readonly k: number;
  }[];
  readonly layout: "nt" | "nt-mmajor";
}

/** Elements that share a scale, so K is a multiple of it. */
export const BLOCK = 16;
/** More would be another kind of problem: tables of the kernels have so many places. */
const MOST_PROBLEMS = 1024;

/** The axes: lists of sizes, one for each problem; one number stands for all. */
export const AXES: readonly Axis[] = [
  { name: "m", about: "rows of each A", values: "sizes" },
  { name: "n", about: "rows of each B", values: "sizes" },
  { name: "k", about: "columns of each A", values: "sizes" },
  {
    name: "layout",
    about: "each C by rows (nt) or transposed (nt-mmajor)",
    values: LAYOUTS,
    default: "nt",
  },
];

/** The point that `values` name. @throws {UserError} If lists do not go together. */
export function readPoint(values: Values): GroupedPoint {
  const read = readAxes({ name: "grouped-matmul", axes: AXES }, values);
  const lists = (["m", "n", "k"] as const).map((name) =>
    readList(name, read[name])
  );
  const count = Math.max(...lists.map(({ length }) => length));
  if (count > MOST_PROBLEMS) {
    throw new UserError(
      `${count} problems in one list: give at most ${MOST_PROBLEMS}`,
    );
  }
  const [m, n, k] = lists.map((list) => {
    if (list.length === count) return list;
    if (list.length === 1) return Array<number>(count).fill(list[0]!);
    throw new UserError(
      `Lists of ${
        lists.map(({ length }) => length).join(", ")
      } numbers for m, n, k: give as many of each, or one for all`,
    );
  }) as [number[], number[], number[]];
  if (m.every((rows) => rows === 0)) {
    throw new UserError("m is 0 in every problem: give one of them rows");
  }
  const odd = k.find((depth) => depth % BLOCK !== 0);
  if (odd !== undefined) {
    throw new UserError(
      `k is ${odd}: NVFP4 has a scale for ${BLOCK} elements, give a multiple of it`,
    );
  }
  return {
    problems: m.map((m, i) => ({ m, n: n[i]!, k: k[i]! })),
    layout: read.layout as GroupedPoint["layout"],
  };
}

function readList(name: "m" | "n" | "k", value: Scalar | undefined): number[] {
  const least = name === "m" ? 0 : 1;
  const list = `${value}`.split("+").map((part) =>
    /^\d+$/.test(part) ? Number(part) : NaN
  );
  // The negation also catches NaN.
  if (list.some((x) => !(x >= least))) {
    throw new UserError(
      `${name} is ${value}: give whole numbers of at least ${least}, as in --axis ${name}=${
        name === "m" ? "80+176" : "256"
      }`,
    );
  }
  return list;
}

/** A list as it is read: one number where all are alike. */
export function formatList(list: readonly number[]): string {
  return new Set(list).size === 1 ? `${list[0]}` : list.join("+");
}

/** The problems that have something to compute, with their places in the list. */
export function realProblems(
  { problems }: GroupedPoint,
): readonly (Sizes & { readonly group: number })[] {
  return problems.map((sizes, group) => ({ ...sizes, group }))
    .filter(({ m }) => m > 0);
}

/**
 * The list of problems as kernels read it, `Problem` of problem.h for each one that has rows: A,
 * SFA, B, SFB, C as addresses, then m, n, k, in 64 bytes.
 */
export function problemTable(
  point: GroupedPoint,
  operands: Operands,
): Uint8Array<ArrayBuffer> {
  return structs(
    realProblems(point).map(({ m, n, k, group }) => [
      ...["A", "SFA", "B", "SFB", "C"].map((name) =>
        operands[`${name}${group}`]!.address
      ),
      ...[m, n, k, 0, 0, 0],
    ]),
  );
}

/** The table in memory of the device; waits. */
export function uploadedTable(
  site: {
    readonly point: GroupedPoint;
    readonly operands: Operands;
    alloc(bytes: number): Memory;
  },
): Memory {
  return uploaded(site, problemTable(site.point, site.operands));
}

/** Elements of K that the GPU kernels copy at a time, and columns of C that they store at a time. */
const [SLAB, VECTOR] = [64, 8];

/** Returns why some problem is not of whole copies. */
export function wholeSlabs(point: GroupedPoint): string | undefined {
  for (const { n, k } of realProblems(point)) {
    if (k % SLAB !== 0) {
      return `K=${k} is no multiple of ${SLAB}, what is copied at a time`;
    }
    if (n % VECTOR !== 0) {
      return `N=${n} is no multiple of ${VECTOR}, what is stored at a time`;
    }
  }
  return undefined;
}

/** The benchmark lists, in the competition's order, with the µs that it states on a B200. */
export const BENCH_LISTS = [
  {
    name: "A",
    m: [80, 176, 128, 72, 64, 248, 96, 160],
    n: 4096,
    k: 7168,
    sol_us: 18.833,
  },
  {
    name: "B",
    m: [40, 76, 168, 72, 164, 148, 196, 160],
    n: 7168,
    k: 2048,
    sol_us: 10.667,
  },
  { name: "C", m: [192, 320], n: 3072, k: 4096, sol_us: 2.406 },
  { name: "D", m: [128, 384], n: 4096, k: 1536, sol_us: 1.525 },
] as const;

/** The ten lists that the competition checks kernels with, as m, n, k. */
export const TEST_LISTS: readonly (readonly [string, string, string])[] = [
  ["96+128", "128+256", "256+512"],
  ["256+72", "512+384", "256+256"],
  ["128+128", "128+256", "512+256"],
  ["80+128+256", "384+256+128", "256+512+256"],
  ["64+72+96", "128+384+512", "512+512+256"],
  ["64+256+128", "768+128+256", "512+256+512"],
  ["128+128+64", "256+512+512", "768+256+768"],
  ["128+128+128+128", "128+128+128+128", "512+256+512+256"],
  ["40+56+384+512", "512+384+256+128", "256+256+256+256"],
  ["512+384+256+128", "256+256+256+256", "512+768+512+768"],
];

/** The competition's lists, then single rows, ragged edges, empty and many problems. */
export function edgeCases(): GroupedPoint[] {
  const odd: Values[] = [
    { m: 1, n: 1, k: 16 },
    { m: "1+0+3", n: "5+7+9", k: "16+32+48" },
    { m: "17+33", n: "40+136", k: "64+192" },
    { m: "0+130+0+7", n: 264, k: 320 },
    {
      m: Array.from({ length: 128 }, (_, i) => i % 5).join("+"),
      n: 72,
      k: 128,
    },
    { m: "70+257", n: "200+129", k: 256, layout: "nt-mmajor" },
    { m: "31+96+1", n: 384, k: 512, layout: "nt-mmajor" },
  ];
  return [
    ...TEST_LISTS.map(([m, n, k]) => ({ m, n, k })),
    ...odd,
  ].map(readPoint);
}

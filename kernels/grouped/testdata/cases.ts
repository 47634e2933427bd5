/**
 * The cases of `grouped-matmul` for the tests of all operations.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { OpCases } from "../../testdata/cases.ts";
import { textOf } from "../../testdata/cuda_builds.ts";
import { BENCH_LISTS, type GroupedPoint } from "../point.ts";
import { groupedMatmul } from "../op.ts";

/** One of each file, the most registers and the most sizes, with clusters and without. */
export const CHOSEN: readonly string[] = [
  "reference.cu",
  "tokens.cu PROBLEMS=8",
  "plain.cu",
  "ring.cu BM=64 BN=128 STAGES=4 CLUSTER=1",
  "ring.cu BM=128 BN=128 STAGES=4 CLUSTER=4",
  "best.cu MAXN=128 STEP=8 WARPGROUPS=4 PIECES=1 LEAST=48 STAGES=4 MMAJOR=0",
  "best.cu MAXN=256 STEP=16 WARPGROUPS=2 PIECES=0 LEAST=48 STAGES=3 MMAJOR=0",
  "best.cu MAXN=128 STEP=8 WARPGROUPS=4 PIECES=1 LEAST=48 STAGES=4 MMAJOR=1",
];

/** Lists that the lane emulator runs in a moment. */
const LIST = { m: "1+0+65", n: "136+64+40", k: "64+64+128" };

/** The lists of the benchmark as points. */
export const benchPoints: readonly GroupedPoint[] = BENCH_LISTS.map((
  { m, n, k },
) => groupedMatmul.point({ m: m.join("+"), n, k }));

/** The cases. Edge-case shapes are lists of the competition, as large as they come. */
export const cases: OpCases<GroupedPoint> = {
  // Two chunks of rows and two of K.
  larger: [groupedMatmul.point({ m: "131+2", n: 70, k: "1072+2064" })],
  fill: "uniform",
  references: [11, 12].map((place) => groupedMatmul.edgeCases[place]!),
  checked: {
    cuda: ["nt", "nt-mmajor"].map((layout) =>
      groupedMatmul.point({ ...LIST, layout })
    ),
  },
  unsupported: /no tcgen05/,
  neverRun: ["blackwell"],
  built: [
    ...groupedMatmul.edgeCases,
    ...benchPoints,
    groupedMatmul.point({ m: "80+40", n: 4096, k: 512, layout: "nt-mmajor" }),
  ],
  chosen(all) {
    const chosen = all.filter((build) => CHOSEN.includes(textOf(build)));
    assertEquals(chosen.length, CHOSEN.length);
    return chosen;
  },
};

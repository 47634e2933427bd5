import { deepStrictEqual } from "node:assert/strict";
import type { Build } from "../../../bench/device/device.ts";
import { cudaKernels } from "./cuda.ts";
import { matmul } from "../op.ts";
import { type MatmulPoint, TYPES } from "../point.ts";
import { distinctBuilds, fileOf } from "../../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

/** Extremes of BM, BN, BK, WARPS, STAGES: what differs most in how it is compiled. */
const EXTREMES = [
  "16 16 32 1 4", // least work a thread, one warp
  "16 16 64 4 4", // four warps on one 16 x 16 tile
  "16 32 256 4 4", // longest step, two warps on one tile
  "32 128 64 4 4", // widest
  "64 64 32 4 3", // shortest step of many warps, fewest stages
  "64 64 64 8 5", // most warps
  "64 64 128 4 5", // most registers and shared memory
];

/** Of dot: LAYOUT, ROWS, THREADS, COLS, UNROLL, CLUSTER with the most registers, and the fewest. */
const DOTS = [
  "nt 1 128 4 8 1", // one row
  "nt 4 256 4 4 1", // most of a larger block
  "nt 8 128 8 1 8", // most sums of whole columns
  "nn 8 256 16 8 8", // most sums of rows of B
  "nt 1 512 1 2 1", // least work a thread
];

function points(): MatmulPoint[] {
  return [
    ...matmul.oddities,
    ...TYPES.flatMap((type) =>
      (["nn", "nt"] as const).flatMap((layout) =>
        [1, 4, 8].map((m) => matmul.point({ m, n: 256, k: 7168, type, layout }))
      )
    ),
    ...TYPES.flatMap((type) =>
      (["nn", "nt"] as const).map((layout) =>
        matmul.point({
          m: 64,
          n: 128,
          k: 32768,
          type,
          layout,
          epilogue: "relu",
        })
      )
    ),
  ];
}

const tile = ({ defines: { BM, BN, BK, WARPS, STAGES } }: Build) =>
  BM === undefined ? undefined : [BM, BN, BK, WARPS, STAGES].join(" ");

const dotted = (
  { defines: { LAYOUT, ROWS, THREADS, COLS, UNROLL, CLUSTER } }: Build,
) =>
  ROWS === undefined
    ? undefined
    : [LAYOUT, ROWS, THREADS, COLS, UNROLL, CLUSTER].join(" ");

const distinct = () =>
  distinctBuilds([...cudaKernels, ...matmul.referees ?? []], points());

/**
 * Of the one-launch kernels the largest tile with the most steps in flight of each way to
 * load, to store and to meet: what takes most registers. fp16 differs from bf16 by a mnemonic.
 */
function largest(all: readonly Build[]): Build[] {
  const size = ({ defines: { BM, BN, STAGES } }: Build) =>
    1000 * Number(BM) * Number(BN) + Number(STAGES);
  const best = new Map<string, Build>();
  for (const b of all) {
    const { TYPE, LAYOUT, JOIN, SWAPPED, PRIVATE } = b.defines;
    if (TYPE === "f16") continue;
    const way = [TYPE, LAYOUT, JOIN, SWAPPED, PRIVATE].join(" ");
    const kind = `${b.source.pathname} ${way}`;
    const known = best.get(kind);
    if (!known || size(b) > size(known)) best.set(kind, b);
  }
  return [...best.values()];
}

/** One of each kind, and the extreme tiles. */
function chosen(): Build[] {
  const all = distinct();
  const joined = largest(all.filter((b) => b.defines.JOIN !== undefined));
  const others = all.filter((b) => {
    if (b.defines.JOIN !== undefined) return false;
    const [tiled, rows] = [tile(b), dotted(b)];
    // Kernels that overlap differ by an instruction: one tile of them will do.
    const tiles = b.defines.PDL ? EXTREMES.slice(0, 1) : EXTREMES;
    return (tiled === undefined || tiles.includes(tiled)) &&
      (rows === undefined || DOTS.includes(rows));
  });
  return [...others, ...joined];
}

Deno.test("builds() name every source file, type, layout and extreme tile", async () => {
  const all = distinct();
  const files = [];
  for await (const { name } of Deno.readDir(new URL(".", import.meta.url))) {
    if (name.endsWith(".cu")) files.push(name);
  }
  const named = new Set(all.map(fileOf));
  deepStrictEqual([...named].sort(), files.sort());
  for (const type of TYPES) {
    const dots = all.filter((b) => b.defines.TYPE === type).map(dotted);
    deepStrictEqual(DOTS.filter((d) => !dots.includes(d)), []);
    for (const layout of ["nn", "nt"]) {
      const tiles = all.filter((b) =>
        b.defines.TYPE === type && b.defines.LAYOUT === layout
      ).map(tile);
      const missing = EXTREMES.filter((e) => !tiles.includes(e));
      // fp32 has no room for the largest ring.
      deepStrictEqual(missing, type === "f32" ? ["64 64 128 4 5"] : []);
    }
  }
});

Deno.test({
  name:
    `builds() compile for ${ARCH} without spilling or waiting for products${skipped}`,
  ignore: withoutNvcc,
  fn: () => compileWithoutSpills(chosen()),
});

/**
 * The launches that the Metal kernels are made of.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import {
  type Arg,
  i32,
  mem,
  type Memory,
  type Step,
} from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import {
  type MetalConfig,
  metalRoom,
  metalThreads,
  type MetalTile,
} from "./tiles.ts";
import { hasRelu, type MatmulPoint } from "../point.ts";
import { isWhole, type Site } from "../cuda/steps.ts";

/** Lanes of the elementwise kernel and of both reducers, and simdgroups of these. */
const THREADS = 256;
const SIMDS = THREADS / 32;

const typed = (file: string) => ({ type }: MatmulPoint): Build => ({
  source: new URL(file, import.meta.url),
  defines: { TYPE: type },
});

const tiled = (file: string) =>
(
  { type, layout }: MatmulPoint,
  { BM, BN, BK, SM, SN }: MetalTile,
): Build => ({
  source: new URL(file, import.meta.url),
  defines: { TYPE: type, LAYOUT: layout, BM, BN, BK, SM, SN },
});

/** The translation units, by what they do: shapes and splits are run-time arguments. */
export const metalBuilds = {
  epilogue: typed("./epilogue.metal"),
  sumTile: typed("./sum_tile.metal"),
  sumSplit: typed("./sum_split.metal"),
  partial: tiled("./partial_simd.metal"),
  product: tiled("./tile_simd.metal"),
};

/** C = epilogue(A · B) by tiles of the output alone. */
export function metalProductStep(site: Site, config: MetalConfig): Step {
  const { point, operands } = site;
  const { m, n, k, lda, ldb, ldc } = point;
  const program = site.program(
    metalBuilds.product(point, config),
    "product_simd",
  );
  return program.step([
    mem(operands.A!),
    mem(operands.B!),
    biasOf(site),
    mem(operands.C!),
    ...[m, n, k, lda, ldb, ldc].map(i32),
    i32(isWhole(site, k) ? 1 : 0),
    ...flags(site),
  ], shapeOf(site, config));
}

/** The partial products of all K slices: `[SPLIT, M, N]` in fp32. */
export function metalPartialStep(
  site: Site,
  config: MetalConfig,
  partials: Memory,
): Step {
  const { point, operands } = site;
  const { m, n, k, lda, ldb } = point;
  const slice = k / config.SPLIT;
  const program = site.program(
    metalBuilds.partial(point, config),
    "partial_simd",
  );
  return program.step([
    mem(operands.A!),
    mem(operands.B!),
    mem(partials),
    ...[m, n, slice, lda, ldb].map(i32),
    i32(isWhole(site, slice) ? 1 : 0),
  ], shapeOf(site, config));
}

function shapeOf({ point }: Site, config: MetalConfig) {
  const { BM, BN, SPLIT } = config;
  return {
    grid: [Math.ceil(point.n / BN), Math.ceil(point.m / BM), SPLIT],
    block: [metalThreads(config), 1, 1],
    sharedBytes: metalRoom(config, point),
  } as const;
}

/** What a reducer sums, and whether it applies the epilogue before it rounds. */
export interface MetalSum {
  readonly partials: Memory;
  readonly fused: boolean;
}

/** C = the sum of the slices by the tile-shaped reducer, a threadgroup for each tile. */
export function metalSumTileStep(
  site: Site,
  { BM, BN, SPLIT }: MetalConfig,
  sum: MetalSum,
): Step {
  const { m, n } = site.point;
  return site.program(metalBuilds.sumTile(site.point), "sum_tile").step(
    [...sumArgs(site, SPLIT, sum), ...[BM, BN].map(i32)],
    {
      grid: [Math.ceil(n / BN), Math.ceil(m / BM), 1],
      block: [THREADS, 1, 1],
    },
  );
}

/** C = the sum of the slices by the split-axis reducer. */
export function metalSumSplitStep(
  site: Site,
  { SPLIT }: MetalConfig,
  sum: MetalSum,
): Step {
  const { m, n } = site.point;
  const x = SPLIT <= 128 ? 32 : SPLIT <= 256 ? 16 : 8;
  return site.program(metalBuilds.sumSplit(site.point), `sum_split_${x}`).step(
    sumArgs(site, SPLIT, sum),
    {
      grid: [Math.ceil(m * n / x), 1, 1],
      block: [THREADS, 1, 1],
      sharedBytes: SIMDS * x * BYTES.f32,
    },
  );
}

function sumArgs(
  site: Site,
  split: number,
  { partials, fused }: MetalSum,
): Arg[] {
  const { m, n, ldc } = site.point;
  return [
    mem(partials),
    biasOf(site),
    mem(site.operands.C!),
    ...[m, n, split, ldc].map(i32),
    ...(fused ? flags(site) : [0, 0].map(i32)),
  ];
}

/** The epilogue on C in its place. */
export function metalEpilogueStep(site: Site): Step {
  const { m, n, ldc } = site.point;
  const build = metalBuilds.epilogue(site.point);
  return site.program(build, "epilogue_kernel").step([
    mem(site.operands.C!),
    biasOf(site),
    ...[m, n, ldc].map(i32),
    ...flags(site),
  ], {
    grid: [Math.ceil(n / 64), Math.ceil(m / 4), 1],
    block: [THREADS, 1, 1],
  });
}

/** The bias; where there is none, some memory that is not read, as Metal has no null there. */
function biasOf({ operands }: Site): Arg {
  return mem(operands.bias ?? operands.C!);
}

/** `relu, biased`. */
function flags({ point, operands }: Site): Arg[] {
  return [hasRelu(point), operands.bias !== undefined].map((is) =>
    i32(Number(is))
  );
}

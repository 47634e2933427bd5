/**
 * The launches that the HIP kernels are made of.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import {
  type Arg,
  i32,
  i64,
  mem,
  type Memory,
  type Step,
} from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { hasRelu, type MatmulPoint } from "../point.ts";
import { type HipConfig, hipGrid, type HipTile, ldsBytes } from "./tiles.ts";
import { isWhole, type Site } from "../cuda/steps.ts";

const source = (name: string) => new URL(name, import.meta.url);
const WAVE = 64;
/** Lanes of the elementwise kernel and of both reducers. */
const THREADS = 256;

const typed = (file: string) => ({ type }: MatmulPoint): Build => ({
  source: source(file),
  defines: { TYPE: type },
});

/** The translation units, by what they do. */
export const hipBuilds = {
  epilogue: typed("./epilogue.hip"),
  sumTile: typed("./sum_tile.hip"),
  sumSplit: typed("./sum_split.hip"),
  /** One for each tile, type and layout: shapes and splits are run-time arguments. */
  partial: (
    { type, layout }: MatmulPoint,
    { BM, BN, BK, WAVES }: HipTile,
  ): Build => ({
    source: source("./partial_mfma.hip"),
    defines: { TYPE: type, LAYOUT: layout, BM, BN, BK, WAVES },
  }),
};

/** C = epilogue(`from`), whose rows are `ld` elements apart; `from` may be C. */
export function hipEpilogueStep(site: Site, from: Memory, ld: number): Step {
  const { m, n, ldc, type } = site.point;
  const program = site.program(
    hipBuilds.epilogue(site.point),
    "epilogue_kernel",
  );
  // The kernel strides over rows beyond what a grid may have.
  const rows = Math.min(65535, Math.ceil(m / 4));
  return program.step([
    mem(from),
    biasOf(site),
    mem(site.operands.C!),
    ...[m, n, ld, ldc, 4 * rows].map(i32),
    relu(site),
  ], {
    grid: [Math.ceil(n * BYTES[type] / 16 / WAVE), rows, 1],
    block: [THREADS, 1, 1],
  });
}

/** The partial products of all K slices: `[SPLIT, M, N]` in fp32. */
export function hipPartialStep(
  site: Site,
  config: HipConfig,
  partials: Memory,
): Step {
  const { point, operands } = site;
  const { m, n, k, lda, ldb, type } = point;
  const slice = k / config.SPLIT;
  const program = site.program(
    hipBuilds.partial(point, config),
    "partial_mfma",
  );
  return program.step([
    mem(operands.A!),
    mem(operands.B!),
    mem(partials),
    ...[m, n, slice, lda, ldb].map(i32),
    i32(isWhole(site, slice) ? 1 : 0),
  ], {
    grid: hipGrid(point, config),
    block: [WAVE * config.WAVES, 1, 1],
    sharedBytes: ldsBytes(config, type),
  });
}

/** What a reducer sums, and whether it applies the epilogue before it rounds. */
export interface HipSum {
  readonly partials: Memory;
  readonly fused: boolean;
}

/** C = the sum of the slices by the tile-shaped reducer, a block for each tile. */
export function hipSumTileStep(
  site: Site,
  { BM, BN, SPLIT }: HipConfig,
  sum: HipSum,
): Step {
  const { m, n } = site.point;
  return site.program(hipBuilds.sumTile(site.point), "sum_tile").step(
    sumArgs(site, SPLIT, sum, [BM, BN]),
    {
      grid: [Math.ceil(n / BN), Math.ceil(m / BM), 1],
      block: [THREADS, 1, 1],
    },
  );
}

/** C = the sum of `split` slices by the split-axis reducer. */
export function hipSumSplitStep(
  site: Site,
  split: number,
  sum: HipSum,
): Step {
  const { m, n } = site.point;
  const x = split <= 128 ? 32 : split <= 256 ? 16 : 8;
  return site.program(hipBuilds.sumSplit(site.point), `sum_split_${x}`).step(
    sumArgs(site, split, sum),
    {
      grid: [Math.ceil(m * n / x), 1, 1],
      block: [THREADS, 1, 1],
      sharedBytes: THREADS / WAVE * x * BYTES.f32,
    },
  );
}

function sumArgs(
  site: Site,
  split: number,
  { partials, fused }: HipSum,
  more: readonly number[] = [],
): Arg[] {
  const { m, n, ldc } = site.point;
  return [
    mem(partials),
    fused ? biasOf(site) : i64(0),
    mem(site.operands.C!),
    ...[m, n, split, ldc, ...more].map(i32),
    fused ? relu(site) : i32(0),
  ];
}

/** The bias, or a null pointer. */
function biasOf({ operands }: Site): Arg {
  return operands.bias ? mem(operands.bias) : i64(0);
}

function relu({ point }: Site): Arg {
  return i32(hasRelu(point) ? 1 : 0);
}

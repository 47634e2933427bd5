/**
 * The launches that the CUDA kernels are made of.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import {
  type Arg,
  i32,
  i64,
  type LaunchShape,
  mem,
  type Memory,
  type Step,
} from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Context } from "../../../bench/model/kernel_spec.ts";
import { hasRelu, type MatmulPoint } from "../point.ts";
import { gridOf, ringBytes, type Tile, type TileConfig } from "./tiles.ts";

/** What a step needs of a kernel's context. */
export type Site = Context<MatmulPoint, Values>;

const source = (name: string) => new URL(name, import.meta.url);

/** Threads of the elementwise kernel and of both reducers. */
const THREADS = 128;

/** The translation units, by what they do. */
export const builds = {
  epilogue: ({ type }: MatmulPoint): Build => ({
    source: source("./epilogue.cu"),
    defines: { TYPE: type },
  }),
  sumTile: ({ type }: MatmulPoint): Build => ({
    source: source("./sum_tile.cu"),
    defines: { TYPE: type },
  }),
  sumSplit: ({ type }: MatmulPoint, overlap = false): Build => ({
    source: source("./sum_split.cu"),
    defines: { TYPE: type, ...pdl(overlap) },
  }),
  /** One for each tile, type and layout: shapes and splits are run-time arguments. */
  partial: (
    { type, layout }: MatmulPoint,
    { BM, BN, BK, WARPS, STAGES }: Tile,
    overlap = false,
  ): Build => ({
    source: source(type === "f32" ? "./partial_ffma.cu" : "./partial_mma.cu"),
    defines: {
      ...{ TYPE: type, LAYOUT: layout, BM, BN, BK, WARPS, STAGES },
      ...pdl(overlap),
    },
  }),
};

/** What makes a kernel one of two that overlap. */
function pdl(overlap: boolean): { readonly PDL?: 1 } {
  return overlap ? { PDL: 1 } : {};
}

/** Bytes of the fp32 partial products `[split, M, N]`. */
export function partialBytes({ m, n }: MatmulPoint, split: number): number {
  return split * m * n * BYTES.f32;
}

/** C = epilogue(`from`), whose rows are `ld` elements apart; `from` may be C. */
export function epilogueStep(site: Site, from: Memory, ld: number): Step {
  const { m, n, ldc, type } = site.point;
  const chunks = Math.ceil(n * BYTES[type] / 16);
  // No wider than a row, so that no thread of a block is idle.
  const x = Math.min(32, 2 ** Math.ceil(Math.log2(chunks)));
  const y = THREADS / x;
  const program = site.program(builds.epilogue(site.point), "epilogue_kernel");
  return program.step([
    mem(from),
    bias(site),
    mem(site.operands.C!),
    ...[m, n, ld, ldc].map(i32),
    relu(site),
  ], {
    // The kernel strides over rows beyond what a grid may have.
    grid: [Math.ceil(chunks / x), Math.min(65535, Math.ceil(m / y)), 1],
    block: [x, y, 1],
  });
}

/** How two kernels follow one another. */
export interface Overlap {
  /** Whether the second is launched while the first runs. @default {false} */
  readonly overlap?: boolean;
}

/** The partial products of all K slices: `[SPLIT, M, N]` in fp32. */
export function partialStep(
  site: Site,
  config: TileConfig,
  { partials, overlap = false }: Overlap & { readonly partials: Memory },
): Step {
  const { point, operands } = site;
  const { m, n, k, lda, ldb, type } = point;
  const slice = k / config.SPLIT;
  const grid = gridOf(point, config);
  const program = site.program(
    builds.partial(point, config, overlap),
    type === "f32" ? "partial_ffma" : "partial_mma",
  );
  return program.step([
    mem(operands.A!),
    mem(operands.B!),
    mem(partials),
    ...[m, n, slice, lda, ldb, grid[2] / config.SPLIT].map(i32),
    i32(isWhole(site, slice) ? 1 : 0),
  ], {
    grid,
    block: [32 * config.WARPS, 1, 1],
    sharedBytes: ringBytes(config, type),
  });
}

/** Whether every slice's rows of A and B are whole 16-byte chunks at 16-byte addresses. */
export function isWhole({ point, operands }: Site, slice: number): boolean {
  const { n, k, lda, ldb, layout, type } = point;
  const chunk = 16 / BYTES[type];
  return [operands.A!, operands.B!].every(({ address }) =>
    address % 16n === 0n
  ) &&
    // The last slice ends where K does: what follows in a row is not the matrix's.
    [lda, ldb, slice, k, layout === "nn" ? n : k].every((x) => x % chunk === 0);
}

/** What a reducer does after the sum. */
export interface Finish extends Overlap {
  /** Whether it applies the epilogue before it rounds. */
  readonly fused: boolean;
}

/** C = the sum of the slices by the tile-shaped reducer, a block for each tile. */
export function sumTileStep(
  site: Site,
  { BM, BN, WARPS, SPLIT }: TileConfig,
  { partials, fused }: Finish & { readonly partials: Memory },
): Step {
  const { m, n } = site.point;
  const fours = BN / 4;
  const threads = 32 * Math.min(Math.max(WARPS, 1), 4);
  return site.program(builds.sumTile(site.point), "sum_tile").step(
    [...sumArgs(site, partials, { split: SPLIT, fused }, [BM])],
    {
      grid: [Math.ceil(n / BN), Math.ceil(m / BM), 1],
      block: [fours, threads / fours, 1],
    },
  );
}

/** C = the sum of `split` slices by the split-axis reducer. */
export function sumSplitStep(
  site: Site,
  split: number,
  { partials, fused, overlap = false }: Finish & {
    readonly partials: Memory;
  },
): Step {
  const { m, n } = site.point;
  const x = split <= 64 ? 32 : split <= 128 ? 16 : 8;
  const shape: LaunchShape = {
    grid: [Math.ceil(m * n / x), 1, 1],
    block: [THREADS, 1, 1],
    ...(overlap ? { overlap } : {}),
  };
  const build = builds.sumSplit(site.point, overlap);
  return site.program(build, `sum_split_${x}`).step(
    sumArgs(site, partials, { split, fused }),
    shape,
  );
}

function sumArgs(
  site: Site,
  partials: Memory,
  { split, fused }: Finish & { readonly split: number },
  more: readonly number[] = [],
): Arg[] {
  const { m, n, ldc } = site.point;
  return [
    mem(partials),
    fused ? bias(site) : i64(0),
    mem(site.operands.C!),
    ...[m, n, split, ldc, ...more].map(i32),
    fused ? relu(site) : i32(0),
  ];
}

/** The bias, or a null pointer. */
function bias({ operands }: Site): Arg {
  return operands.bias ? mem(operands.bias) : i64(0);
}

function relu({ point }: Site): Arg {
  return i32(hasRelu(point) ? 1 : 0);
}

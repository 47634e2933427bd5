/**
 * The launches of the Metal kernels of {@linkcode qmm}: tiles, rows of x, and sums of slices.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import {
  i32,
  mem,
  type Memory,
  type Step,
} from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Context } from "../../../bench/model/kernel_spec.ts";
import { metalThreads } from "../../common/metal_tile.ts";
import { type QmmPoint, weightMemory } from "../point.ts";
import { isFast, mlxName, type MlxTiled } from "./mlx_dispatch.ts";
import { qmmRoom, type QmmTile } from "./tiles.ts";

/** The context of a launch. */
export type Site = Context<QmmPoint, Values>;

/** Lanes of the sum. */
const SUM_THREADS = 256;
/** Elements of x in 16 bytes. */
const CHUNK = 8;

/** The name of a tiled product's entry and the type of its partial sums. */
export interface QmmStyle {
  /** MLX's kernel that it is; none for ours. */
  readonly mlx?: MlxTiled;
  /** The type of partial sums: MLX has that of x. */
  readonly part: PartType;
}

/** The types that partial sums may have. */
type PartType = "f32" | QmmPoint["type"];

/** The macros of every kernel: the format of the weights. */
const formatDefines = (
  { type, mode, bits, group }: QmmPoint,
): Values => ({
  TYPE: type,
  MODE: mode.toUpperCase(),
  AFFINE_MODE: Number(mode === "affine"),
  BITS: bits,
  GROUP: group,
});

/** The entry of a tiled product, and its translation unit. */
function tiled(
  point: QmmPoint,
  { SPLIT, ...tile }: QmmTile,
  { mlx, part }: QmmStyle,
): { readonly build: Build; readonly entry: string } {
  const entry = mlx ? mlxName(mlx, point) : "qmm";
  return {
    entry,
    build: {
      source: new URL("./qmm.metal", import.meta.url),
      defines: {
        ...formatDefines(point),
        ...tile,
        LAYOUT: point.transposed ? "nt" : "nn",
        OUT: SPLIT > 1 ? part : point.type,
        ENTRY: entry,
      },
    },
  };
}

/** The translation unit of the sum of slices. */
const sumBuild = ({ type }: QmmPoint, PART: PartType): Build => ({
  source: new URL("./sum_slices.metal", import.meta.url),
  defines: { TYPE: type, PART },
});

/** y = the sum of `split` partial products. */
function sumStep(
  { point, operands, program }: Site,
  partials: Memory,
  { part, split }: { readonly part: PartType; readonly split: number },
): Step {
  const count = point.m * point.n;
  return program(sumBuild(point, part), "sum_slices").step([
    mem(partials),
    mem(operands.y!),
    ...[count, split].map(i32),
  ], {
    grid: [Math.ceil(count / SUM_THREADS), 1, 1],
    block: [SUM_THREADS, 1, 1],
  });
}

/** The builds of a tiled product. */
export function tiledBuilds(
  point: QmmPoint,
  config: QmmTile,
  style: QmmStyle,
): readonly Build[] {
  return [
    tiled(point, config, style).build,
    ...(config.SPLIT > 1 ? [sumBuild(point, style.part)] : []),
  ];
}

/** y = x · Wᵀ or x · W by tiles, in slices of `slice` where K is cut. */
export function tiledSteps(
  site: Site,
  config: QmmTile,
  { slice, ...style }: QmmStyle & { readonly slice: number },
): readonly Step[] {
  const { point, operands, program, alloc } = site;
  const { m, n, k } = point;
  const { BM, BN, SPLIT } = config;
  const { build, entry } = tiled(point, config, style);
  const out = SPLIT > 1
    ? alloc(SPLIT * m * n * BYTES[style.part])
    : operands.y!;
  // Slices begin and end, and rows of x follow one another, by whole chunks of 16 bytes.
  const whole = k % CHUNK === 0 && operands.x!.address % 16n === 0n;
  const product = program(build, entry).step([
    mem(operands.x!),
    ...weightMemory(operands),
    mem(out),
    ...[m, n, k, slice, Number(whole)].map(i32),
  ], {
    grid: [Math.ceil(n / BN), Math.ceil(m / BM), SPLIT],
    block: [metalThreads(config), 1, 1],
    sharedBytes: qmmRoom(point, config),
  });
  if (SPLIT === 1) return [product];
  const sum = sumStep(site, out, { part: style.part, split: SPLIT });
  return [product, sum];
}

/** Both kernels have two simdgroups. */
const THREADS = 64;
/** Rows of W of a threadgroup, in x · Wᵀ. */
const ROWS = 8;

/** Columns of W of a threadgroup, in x · W: those of a group, or 32, for each simdgroup. */
const colsOf = ({ group }: QmmPoint) => 2 * Math.min(group, 32);

interface Unit {
  readonly build: Build;
  readonly entry: string;
}

function qmvUnit(point: QmmPoint): Unit {
  const fast = isFast(point);
  const entry = mlxName(fast ? "qmv_fast" : "qmv", point);
  const source = new URL("./qmv.metal", import.meta.url);
  const defines = {
    ...formatDefines(point),
    FAST: Number(fast),
    ENTRY: entry,
  };
  return { entry, build: { source, defines } };
}

/** The builds of `qmv`. */
export function qmvBuilds(point: QmmPoint): readonly Build[] {
  return [qmvUnit(point).build];
}

/** y = x · Wᵀ by dot products. */
export function qmvSteps({ point, operands, program }: Site): readonly Step[] {
  const { m, n, k } = point;
  const { build, entry } = qmvUnit(point);
  return [
    program(build, entry).step([
      mem(operands.x!),
      ...weightMemory(operands),
      mem(operands.y!),
      ...[n, k].map(i32),
    ], { grid: [Math.ceil(n / ROWS), m, 1], block: [THREADS, 1, 1] }),
  ];
}

function qvmUnit(point: QmmPoint, split: number): Unit {
  const entry = split > 1
    ? mlxName("qvm_split_k", point, split)
    : mlxName("qvm", point);
  const source = new URL("./qvm.metal", import.meta.url);
  const defines = { ...formatDefines(point), ENTRY: entry };
  return { entry, build: { source, defines } };
}

/** The builds of `qvm` with K in `split` slices. */
export function qvmBuilds(point: QmmPoint, split: number): readonly Build[] {
  return [
    qvmUnit(point, split).build,
    ...(split > 1 ? [sumBuild(point, point.type)] : []),
  ];
}

/** y = x · W by scaled rows of W, the slices' sums in the type of x. */
export function qvmSteps(site: Site, split: number): readonly Step[] {
  const { point, operands, program, alloc } = site;
  const { m, n, k, type } = point;
  const { build, entry } = qvmUnit(point, split);
  const out = split > 1 ? alloc(split * m * n * BYTES[type]) : operands.y!;
  const product = program(build, entry).step([
    mem(operands.x!),
    ...weightMemory(operands),
    mem(out),
    ...[n, k, Math.ceil(k / split)].map(i32),
  ], {
    grid: [Math.ceil(n / colsOf(point)), m, split],
    block: [THREADS, 1, 1],
  });
  return split === 1
    ? [product]
    : [product, sumStep(site, out, { part: type, split })];
}

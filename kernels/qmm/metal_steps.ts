/**
 * The launches that the Metal kernels of {@linkcode qmm} are made of.
 *
 * @module
 */

import { type Build, i32, mem, type Step } from "../../bench/device.ts";
import { BYTES } from "../../bench/dtype.ts";
import type { Values } from "../../bench/grid.ts";
import type { Context } from "../../bench/kernel.ts";
import { metalThreads } from "../matmul/metal_tiles.ts";
import { qmmRoom, type QmmTile } from "./metal_tiles.ts";
import { isFast, mlxName } from "./mlx_names.ts";
import type { QmmPoint } from "./point.ts";
import { weightMemory } from "./weight_args.ts";

type Site = Context<QmmPoint, Values>;

/** Lanes of the sum, and rows of W of a threadgroup of the vector kernel. */
const SUM_THREADS = 256;
const QMV_ROWS = 8;

/** How a tiled product is written: whose name it has, and what partial sums are. */
export interface QmmStyle {
  /** MLX's kernel that it is; none for ours. */
  readonly mlx?: "qmm_t" | "qmm_t_splitk";
  /** The type of partial sums: MLX has that of x. */
  readonly part: "f32" | QmmPoint["type"];
}

const formatOf = ({ type, mode, bits, group }: QmmPoint) => ({
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
  const entry = mlx ? mlxName(mlx, point) : "qmm_t";
  return {
    entry,
    build: {
      source: new URL("./qmm_t.metal", import.meta.url),
      defines: {
        ...formatOf(point),
        ...tile,
        OUT: SPLIT > 1 ? part : point.type,
        ENTRY: entry,
      },
    },
  };
}

const summed = ({ type }: QmmPoint, PART: string): Build => ({
  source: new URL("./sum_slices.metal", import.meta.url),
  defines: { TYPE: type, PART },
});

/** What the vector kernel needs. */
export function qmvBuild(
  point: QmmPoint,
): { readonly build: Build; readonly entry: string } {
  const fast = isFast(point);
  const entry = mlxName(fast ? "qmv_fast" : "qmv", point);
  const defines = {
    ...formatOf(point),
    FAST: Number(fast),
    ENTRY: entry,
  };
  const source = new URL("./qmv.metal", import.meta.url);
  return { entry, build: { source, defines } };
}

/** y = x · Wᵀ by dot products. */
export function qmvStep({ point, operands, program }: Site): Step {
  const { m, n, k } = point;
  const { build, entry } = qmvBuild(point);
  return program(build, entry).step([
    mem(operands.x!),
    ...weightMemory(operands),
    mem(operands.y!),
    ...[n, k].map(i32),
  ], { grid: [Math.ceil(n / QMV_ROWS), m, 1], block: [64, 1, 1] });
}

/** What a tiled product needs. */
export function tiledBuilds(
  point: QmmPoint,
  config: QmmTile,
  style: QmmStyle,
): readonly Build[] {
  return [
    tiled(point, config, style).build,
    ...(config.SPLIT > 1 ? [summed(point, style.part)] : []),
  ];
}

/** y = x · Wᵀ by tiles, in slices of `slice` where K is cut. */
export function tiledSteps(
  { point, operands, program, alloc }: Site,
  config: QmmTile,
  { slice, ...style }: QmmStyle & { readonly slice: number },
): readonly Step[] {
  const { m, n, k, type } = point;
  const { BM, BN, SPLIT } = config;
  const { build, entry } = tiled(point, config, style);
  const out = SPLIT > 1
    ? alloc(SPLIT * m * n * BYTES[style.part])
    : operands.y!;
  const product = program(build, entry).step([
    mem(operands.x!),
    ...weightMemory(operands),
    mem(out),
    ...[m, n, k, slice].map(i32),
    // Rows of x are whole groups, and so whole chunks of 16 bytes.
    i32(Number(operands.x!.address % 16n === 0n)),
  ], {
    grid: [Math.ceil(n / BN), Math.ceil(m / BM), SPLIT],
    block: [metalThreads(config), 1, 1],
    sharedBytes: qmmRoom({ ...point, type }, config),
  });
  if (SPLIT === 1) return [product];
  const sum = program(summed(point, style.part), "sum_slices").step([
    mem(out),
    mem(operands.y!),
    ...[m * n, SPLIT].map(i32),
  ], {
    grid: [Math.ceil(m * n / SUM_THREADS), 1, 1],
    block: [SUM_THREADS, 1, 1],
  });
  return [product, sum];
}

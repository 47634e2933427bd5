/**
 * The launches of the Metal kernels of {@linkcode qmm}: a product, and the sum of its slices.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { LaunchShape, Step } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Context } from "../../../bench/model/kernel_spec.ts";
import { launch } from "../../common/launch.ts";
import { metalThreads } from "../../common/metal_tile.ts";
import { blockOf, type QmmPoint, weightMemory } from "../point.ts";
import { isFast, mlxName, type MlxTiled } from "./mlx_dispatch.ts";
import { qmmRoom, type QmmTile } from "./tiles.ts";

/** The types that partial sums may have. */
type PartType = "f32" | QmmPoint["type"];

/** A product at a point. */
export interface Product {
  readonly build: Build;
  readonly entry: string;
  /** The numbers after the operands. */
  readonly sizes: readonly number[];
  /** Whether a flag follows them: rows of x are whole chunks of 16 bytes. @default {false} */
  readonly flagged?: boolean;
  readonly shape: LaunchShape;
  /** Slices of K, and the type of their sums: MLX has that of x. */
  readonly split: number;
  readonly part: PartType;
}

/** Lanes of the sum. */
const SUM_THREADS = 256;
/** Elements of x in 16 bytes. */
const CHUNK = 8;

/** The builds of a product: its own, and that of the sum where K is cut. */
export function buildsOf(
  { type }: QmmPoint,
  { build, split, part }: Product,
): readonly Build[] {
  return split === 1 ? [build] : [build, {
    source: new URL("./sum_slices.metal", import.meta.url),
    defines: { TYPE: type, PART: part },
  }];
}

/** y = x · Wᵀ or x · W, as the sum of `split` partial products where K is cut. */
export function stepsOf(
  site: Context<QmmPoint, Values>,
  product: Product,
): readonly Step[] {
  const { point, operands: { x, y, ...weight }, alloc } = site;
  const { m, n, k } = point;
  const { entry, sizes, shape, split, part } = product;
  const [build, sum] = buildsOf(point, product);
  const out = sum ? alloc(split * m * n * BYTES[part]) : y;
  // Slices begin and end, and rows of x follow one another, by whole chunks of 16 bytes.
  const whole = k % CHUNK === 0 && x!.address % 16n === 0n;
  const step = launch(site, build!, {
    entry,
    shape,
    args: [
      ...[x, ...weightMemory(weight), out, ...sizes],
      ...(product.flagged ? [whole] : []),
    ],
  });
  if (!sum) return [step];
  return [
    step,
    launch(site, sum, {
      args: [out, y, m * n, split],
      shape: {
        grid: [Math.ceil(m * n / SUM_THREADS), 1, 1],
        block: [SUM_THREADS, 1, 1],
      },
    }),
  ];
}

/** The build of an entry, with the macros of every kernel: the format of the weights. */
function entryBuild(
  point: QmmPoint,
  file: string,
  { entry, ...macros }: Values & { readonly entry: string },
): Pick<Product, "entry" | "build"> {
  const { type, mode, bits } = point;
  return {
    entry,
    build: {
      source: new URL(file, import.meta.url),
      defines: {
        TYPE: type,
        MODE: mode.toUpperCase(),
        AFFINE_MODE: Number(mode === "affine"),
        BITS: bits,
        ...blockOf(point),
        ...macros,
        ENTRY: entry,
      },
    },
  };
}

/** By tiles, in slices of `slice` where K is cut; `mlx` is MLX's kernel that it is, if any. */
export function tiledProduct(
  point: QmmPoint,
  { SPLIT, ...tile }: QmmTile,
  { mlx, part, slice }: {
    readonly mlx?: MlxTiled;
    readonly part: PartType;
    readonly slice: number;
  },
): Product {
  const { m, n, k, type } = point;
  return {
    ...entryBuild(point, "./qmm.metal", {
      entry: mlx ? mlxName(mlx, point) : "qmm",
      ...(mlx === "qmm_t_nax" ? { MATRIX_UNITS: 1 } : {}),
      ...tile,
      LAYOUT: point.transposed ? "nt" : "nn",
      OUT: SPLIT > 1 ? part : type,
    }),
    split: SPLIT,
    part,
    sizes: [m, n, k, slice],
    flagged: true,
    shape: {
      grid: [Math.ceil(n / tile.BN), Math.ceil(m / tile.BM), SPLIT],
      block: [metalThreads(tile), 1, 1],
      sharedBytes: qmmRoom(point, tile),
    },
  };
}

/** The kernels of single rows have two simdgroups. */
const THREADS = 64;
/** Rows of W of a threadgroup, in x · Wᵀ. */
const ROWS = 8;

/** x · Wᵀ by dot products. */
export function qmvProduct(point: QmmPoint): Product {
  const { m, n, k, type } = point;
  const fast = isFast(point);
  return {
    ...entryBuild(point, "./qmv.metal", {
      entry: mlxName(fast ? "qmv_fast" : "qmv", point),
      FAST: Number(fast),
    }),
    split: 1,
    part: type,
    sizes: [n, k],
    shape: { grid: [Math.ceil(n / ROWS), m, 1], block: [THREADS, 1, 1] },
  };
}

/** x · W by scaled rows of W. */
export function qvmProduct(point: QmmPoint, split: number): Product {
  const { m, n, k, type, group } = point;
  // Columns of a threadgroup: those of a group, or 32, for each simdgroup.
  const columns = 2 * Math.min(group, 32);
  return {
    ...entryBuild(point, "./qvm.metal", {
      entry: mlxName(split > 1 ? "qvm_split_k" : "qvm", point, split),
    }),
    split,
    part: type,
    sizes: [n, k, Math.ceil(k / split)],
    shape: {
      grid: [Math.ceil(n / columns), m, split],
      block: [THREADS, 1, 1],
    },
  };
}

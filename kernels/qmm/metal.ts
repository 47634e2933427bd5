/**
 * The Metal kernels of {@linkcode qmm}: MLX's with its dispatch, and ours.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device.ts";
import type { Values } from "../../bench/grid.ts";
import { defineKernel, type Kernel } from "../../bench/kernel.ts";
import {
  type QmmStyle,
  qmvBuild,
  qmvStep,
  tiledBuilds,
  tiledSteps,
} from "./metal_steps.ts";
import {
  MLX_TILE,
  predictQmm,
  type QmmTile,
  qmmTileRules,
  qmmTiles,
  sliceLength,
} from "./metal_tiles.ts";
import {
  type MlxChoice,
  mlxChoice,
  parseAppleGpu,
  splitOf,
} from "./mlx_dispatch.ts";
import { qmm } from "./op.ts";
import type { QmmPoint } from "./point.ts";

/** Why the operands lie the wrong way, or are too many. */
function unsupported({ transposed, m, n }: QmmPoint): string | undefined {
  if (!transposed) {
    return "groups of weights run along N: no scale is common to a sum over K";
  }
  return m * n < 2 ** 31
    ? undefined
    : `M x N = ${m * n}: elements of y are numbered in 31 bits`;
}

/** MLX's slices are equal: as many as its rule finds. */
const mlxTile = (SPLIT: number): QmmTile => ({ ...MLX_TILE, SPLIT });
const mlxStyle = (point: QmmPoint, split: number): QmmStyle => ({
  mlx: split > 1 ? "qmm_t_splitk" : "qmm_t",
  part: point.type,
});
const mlxSplit = (point: QmmPoint) => splitOf(point, "aligned");

const qmv: Kernel<QmmPoint> = defineKernel(qmm, {
  name: "qmv",
  backend: "metal",
  idea: "MLX's dot products, four rows of weights a simdgroup",
  unsupported,
  builds: (point) => [qmvBuild(point).build],
  prepare: (site) => ({ steps: [qmvStep(site)] }),
});

/** One of MLX's tiled kernels, K cut by its rule or not at all. */
function mlxTiled(
  name: "qmm_t" | "qmm_t_splitk",
  { idea, split }: {
    readonly idea: string;
    split(point: QmmPoint): number;
  },
): Kernel<QmmPoint> {
  return defineKernel<QmmPoint, QmmTile>(qmm, {
    name,
    backend: "metal",
    idea,
    unsupported: (point) =>
      unsupported(point) ??
        (name === "qmm_t" || split(point) > 1
          ? undefined
          : `MLX does not cut K=${point.k} in groups of ${point.group} here`),
    configs: (point) => [mlxTile(split(point))],
    builds: (point, config) =>
      tiledBuilds(point, config, mlxStyle(point, config.SPLIT)),
    prepare(site) {
      const { point, config } = site;
      const slice = point.k / config.SPLIT;
      const style = mlxStyle(point, config.SPLIT);
      return { steps: tiledSteps(site, config, { ...style, slice }) };
    },
  });
}

type MlxConfig = Values & MlxChoice;

/** What MLX runs on such a device, or why that is not known. */
function choiceFor(
  point: QmmPoint,
  { arch }: DeviceInfo,
): MlxChoice | string {
  try {
    return mlxChoice(point, parseAppleGpu(arch), "later");
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

const mlx: Kernel<QmmPoint> = defineKernel<QmmPoint, MlxConfig>(qmm, {
  name: "mlx",
  backend: "metal",
  idea: "what MLX's dispatch takes of qmv, qmm_t and qmm_t_splitk",
  unsupported(point, info) {
    const choice = choiceFor(point, info);
    return unsupported(point) ??
      (typeof choice === "string" ? choice : undefined);
  },
  configs(point, info) {
    const choice = choiceFor(point, info);
    return typeof choice === "string" ? [] : [{ ...choice }];
  },
  builds: (point, { kernel, split }) =>
    kernel === "qmv"
      ? [qmvBuild(point).build]
      : tiledBuilds(point, mlxTile(split), mlxStyle(point, split)),
  prepare(site) {
    const { point, config: { kernel, split } } = site;
    if (kernel === "qmv") return { steps: [qmvStep(site)] };
    const slice = point.k / split;
    const style = mlxStyle(point, split);
    return { steps: tiledSteps(site, mlxTile(split), { ...style, slice }) };
  },
});

const OWN: QmmStyle = { part: "f32" };

const qmmSplitK: Kernel<QmmPoint> = defineKernel<QmmPoint, QmmTile>(qmm, {
  name: "qmm-splitk",
  backend: "metal",
  idea:
    "tiles of 8 and 16 rows too, fp32 partial sums, the last slice of any length",
  unsupported,
  configs: qmmTiles,
  rules: qmmTileRules,
  predict: predictQmm,
  builds: (point, config) => tiledBuilds(point, config, OWN),
  prepare(site) {
    const slice = sliceLength(site.point, site.config);
    return { steps: tiledSteps(site, site.config, { ...OWN, slice }) };
  },
});

/** In the order of listings and tables. */
export const metalKernels: readonly Kernel<QmmPoint>[] = [
  mlx,
  qmv,
  mlxTiled("qmm_t", {
    idea: "MLX's tiles of 32 x 32, weights decoded into threadgroup memory",
    split: () => 1,
  }),
  mlxTiled("qmm_t_splitk", {
    idea: "qmm_t with K in equal slices, their sums in the type of x",
    split: mlxSplit,
  }),
  qmmSplitK,
];

/**
 * The Metal kernels of {@linkcode qmm}: MLX's with its dispatch, and ours.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../../bench/device/device.ts";
import type { Step } from "../../../bench/device/queue.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import {
  type MlxChoice,
  mlxChoice,
  parseAppleGpu,
  qvmSplit,
  splitOf,
} from "./mlx_dispatch.ts";
import {
  type QmmStyle,
  qmvBuilds,
  qmvSteps,
  qvmBuilds,
  qvmSteps,
  type Site,
  tiledBuilds,
  tiledSteps,
} from "./steps.ts";
import {
  MLX_TILE,
  predictQmm,
  type QmmTile,
  qmmTileRules,
  qmmTiles,
  sliceLength,
  tooManyOutputs,
} from "./tiles.ts";

/** The launches of one of MLX's kernels, K in `split` slices. */
interface Launch {
  builds(point: QmmPoint, split: number): readonly Build[];
  steps(site: Site, split: number): readonly Step[];
}

const qmv: Launch = { builds: qmvBuilds, steps: qmvSteps };
const qvm: Launch = { builds: qvmBuilds, steps: qvmSteps };

/** Slices of x · Wᵀ are equal: as many as the rule finds. */
const tileOf = (SPLIT: number): QmmTile => ({ ...MLX_TILE, SPLIT });
const styleOf = ({ transposed, type }: QmmPoint, split: number): QmmStyle => ({
  mlx: !transposed ? "qmm_n" : split > 1 ? "qmm_t_splitk" : "qmm_t",
  part: type,
});
const tiled: Launch = {
  builds: (point, split) =>
    tiledBuilds(point, tileOf(split), styleOf(point, split)),
  steps: (site, split) =>
    tiledSteps(site, tileOf(split), {
      ...styleOf(site.point, split),
      slice: site.point.k / split,
    }),
};

const LAUNCHES: Readonly<Record<MlxChoice["kernel"], Launch>> = {
  qmv,
  qvm,
  qvm_split_k: qvm,
  qmm: tiled,
  qmm_splitk: tiled,
};

interface Alone {
  readonly name: string;
  readonly idea: string;
  readonly launch: Launch;
  /** The only orientation that it is for. */
  readonly transposed: boolean;
  /** Its rule for slices, if it cuts K. */
  readonly split?: (point: QmmPoint) => number;
}

type Split = Values & { readonly SPLIT?: number };

/** One of them at every M, whatever the dispatch would take. */
function alone(
  { name, idea, launch, transposed, split }: Alone,
): Kernel<QmmPoint> {
  return defineKernel<QmmPoint, Split>(qmm, {
    name,
    backend: "metal",
    idea,
    unsupported(point) {
      if (point.transposed !== transposed) {
        return transposed
          ? "it multiplies by Wᵀ, whose groups run along K: not x · W"
          : "it multiplies by W, whose groups run along N: not x · Wᵀ";
      }
      const { k, group } = point;
      return tooManyOutputs(point) ??
        (split === undefined || split(point) > 1
          ? undefined
          : `MLX does not cut K=${k} in groups of ${group} here`);
    },
    configs: (point): Split[] => [split ? { SPLIT: split(point) } : {}],
    builds: (point, { SPLIT = 1 }) => launch.builds(point, SPLIT),
    prepare(site) {
      const { SPLIT = 1 } = site.config;
      return { steps: launch.steps(site, SPLIT) };
    },
  });
}

type Choice = Values & MlxChoice;

/** Returns MLX's choice on such a device, or why it is not known. */
function choiceFor(
  point: QmmPoint,
  { arch }: DeviceInfo,
): MlxChoice | string {
  try {
    return mlxChoice(point, parseAppleGpu(arch));
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

const mlx: Kernel<QmmPoint> = defineKernel<QmmPoint, Choice>(qmm, {
  name: "mlx",
  backend: "metal",
  idea: "what MLX's dispatch takes of the next six",
  unsupported(point, info) {
    const choice = choiceFor(point, info);
    return tooManyOutputs(point) ??
      (typeof choice === "string" ? choice : undefined);
  },
  configs(point, info) {
    const choice = choiceFor(point, info);
    return typeof choice === "string" ? [] : [{ ...choice }];
  },
  builds: (point, { kernel, split }) => LAUNCHES[kernel].builds(point, split),
  prepare(site) {
    const { kernel, split } = site.config;
    return { steps: LAUNCHES[kernel].steps(site, split) };
  },
});

/** In the order of listings and tables: the choice, then what it chooses from. */
const mlxKernels: readonly Kernel<QmmPoint>[] = [
  mlx,
  alone({
    name: "qmv",
    idea: "MLX's dot products, four rows of weights a simdgroup",
    launch: qmv,
    transposed: true,
  }),
  alone({
    name: "qvm",
    idea: "MLX's for x · W: a row of weights a lane, the lanes' sums added",
    launch: qvm,
    transposed: false,
  }),
  alone({
    name: "qvm_split_k",
    idea: "qvm with K in 8 or 32 slices, their sums in the type of x",
    launch: qvm,
    transposed: false,
    split: ({ k }) => qvmSplit(k),
  }),
  alone({
    name: "qmm_t",
    idea: "MLX's tiles of 32 x 32, weights decoded into threadgroup memory",
    launch: tiled,
    transposed: true,
  }),
  alone({
    name: "qmm_n",
    idea: "the same for x · W",
    launch: tiled,
    transposed: false,
  }),
  alone({
    name: "qmm_t_splitk",
    idea: "qmm_t with K in equal slices, their sums in the type of x",
    launch: tiled,
    transposed: true,
    split: (point) => splitOf(point),
  }),
];

const STYLE: QmmStyle = { part: "f32" };

const qmmSplitK: Kernel<QmmPoint> = defineKernel<QmmPoint, QmmTile>(qmm, {
  name: "qmm-splitk",
  backend: "metal",
  idea:
    "tiles of 8 and 16 rows too, fp32 partial sums, the last slice of any length",
  unsupported: tooManyOutputs,
  configs: qmmTiles,
  rules: qmmTileRules,
  predict: predictQmm,
  builds: (point, config) => tiledBuilds(point, config, STYLE),
  prepare(site) {
    const slice = sliceLength(site.point, site.config);
    return { steps: tiledSteps(site, site.config, { ...STYLE, slice }) };
  },
});

/** In the order of listings and tables. */
export const metalKernels: readonly Kernel<QmmPoint>[] = [
  ...mlxKernels,
  qmmSplitK,
];

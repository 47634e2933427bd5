/**
 * The Metal kernels of {@linkcode qmm}: MLX's with its dispatch, and ours.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel, KernelSpec } from "../../../bench/model/kernel_spec.ts";
import { isChannel } from "../../../bench/formats/quant_format.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import { libraryKernel } from "../dequantise.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import {
  hasMatrixUnits,
  type MlxChoice,
  mlxChoice,
  naxTile,
  parseAppleGpu,
  qvmSplit,
  splitOf,
} from "./mlx_dispatch.ts";
import {
  buildsOf,
  type Product,
  qmvProduct,
  qvmProduct,
  stepsOf,
  tiledProduct,
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

/** Defines the kernel of a product that a config names. */
function define<C extends Values>(
  spec: Omit<KernelSpec<QmmPoint, C>, "backend" | "builds" | "prepare">,
  productOf: (point: QmmPoint, config: C) => Product,
): Kernel<QmmPoint> {
  return defineKernel<QmmPoint, C>(qmm, {
    ...spec,
    backend: "metal",
    builds: (point, config) => buildsOf(point, productOf(point, config)),
    prepare: (site) => ({
      steps: stepsOf(site, productOf(site.point, site.config)),
    }),
  });
}

/** MLX's tiles, K in `split` slices, which are equal: as many as its rule finds. */
function mlxTiled(point: QmmPoint, split: number): Product {
  const { transposed, type, k } = point;
  return tiledProduct(point, { ...MLX_TILE, SPLIT: split }, {
    mlx: !transposed ? "qmm_n" : split > 1 ? "qmm_t_splitk" : "qmm_t",
    part: type,
    slice: k / split,
  });
}

/** MLX's kernels at a point, K in `split` slices. */
const PRODUCTS: Readonly<
  Record<MlxChoice["kernel"], (point: QmmPoint, split: number) => Product>
> = {
  qmv: qmvProduct,
  qvm: qvmProduct,
  qvm_split_k: qvmProduct,
  qmm: mlxTiled,
  qmm_splitk: mlxTiled,
  qmm_nax: (point) =>
    tiledProduct(point, { ...naxTile(point), SPLIT: 1 }, {
      mlx: "qmm_t_nax",
      part: point.type,
      slice: point.k,
    }),
};

interface Alone {
  readonly name: string;
  readonly idea: string;
  readonly product: keyof typeof PRODUCTS;
  /** The only orientation that it is for. */
  readonly transposed: boolean;
  /** Its rule for slices, if it cuts K. */
  readonly split?: (point: QmmPoint) => number;
}

type Split = Values & { readonly SPLIT?: number };

/** One of them at every M, whatever the dispatch would take. */
function alone(
  { name, idea, product, transposed, split }: Alone,
): Kernel<QmmPoint> {
  return define<Split>({
    name,
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
  }, (point, { SPLIT = 1 }) => PRODUCTS[product](point, SPLIT));
}

type Choice = Values & MlxChoice;

/** Returns MLX's choice on such a device, or why it is not known. */
function choiceFor(
  point: QmmPoint,
  { arch, driver }: DeviceInfo,
): MlxChoice | string {
  try {
    const gpu = parseAppleGpu(arch);
    return mlxChoice(point, gpu, hasMatrixUnits(gpu, driver));
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

const mlx: Kernel<QmmPoint> = define<Choice>({
  name: "mlx",
  idea: "what MLX's dispatch takes of the next six",
  unsupported(point, info) {
    const choice = choiceFor(point, info);
    return tooManyOutputs(point) ??
      (isChannel(point)
        ? "MLX has groups of 32, 64 and 128, and none of a whole row of W"
        : typeof choice === "string"
        ? choice
        : undefined);
  },
  configs(point, info) {
    const choice = choiceFor(point, info);
    return typeof choice === "string" ? [] : [{ ...choice }];
  },
}, (point, { kernel, split }) => PRODUCTS[kernel](point, split));

/** In the order of listings and tables: the library, the choice, then what it chooses from. */
const mlxKernels: readonly Kernel<QmmPoint>[] = [
  libraryKernel("mps", "metal"),
  mlx,
  alone({
    name: "qmv",
    idea: "MLX's dot products, four rows of weights a simdgroup",
    product: "qmv",
    transposed: true,
  }),
  alone({
    name: "qvm",
    idea: "MLX's for x · W: a row of weights a lane, the lanes' sums added",
    product: "qvm",
    transposed: false,
  }),
  alone({
    name: "qvm_split_k",
    idea: "qvm with K in 8 or 32 slices, their sums in the type of x",
    product: "qvm",
    transposed: false,
    split: ({ k }) => qvmSplit(k),
  }),
  alone({
    name: "qmm_t",
    idea: "MLX's tiles of 32 x 32, weights decoded into threadgroup memory",
    product: "qmm",
    transposed: true,
  }),
  alone({
    name: "qmm_n",
    idea: "the same for x · W",
    product: "qmm",
    transposed: false,
  }),
  alone({
    name: "qmm_t_splitk",
    idea: "qmm_t with K in equal slices, their sums in the type of x",
    product: "qmm",
    transposed: true,
    split: (point) => splitOf(point),
  }),
];

const qmmSplitK: Kernel<QmmPoint> = define<QmmTile>({
  name: "qmm-splitk",
  idea:
    "tiles of 8 and 16 rows too, fp32 partial sums, the last slice of any length",
  unsupported: tooManyOutputs,
  configs: qmmTiles,
  rules: qmmTileRules,
  predict: predictQmm,
}, (point, config) => {
  const slice = sliceLength(point, config);
  return tiledProduct(point, config, { part: "f32", slice });
});

/** In the order of listings and tables. */
export const metalKernels: readonly Kernel<QmmPoint>[] = [
  ...mlxKernels,
  qmmSplitK,
];

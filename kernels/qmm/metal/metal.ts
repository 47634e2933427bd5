/**
 * The Metal kernels of {@linkcode qmm}: MLX's with its dispatch, and ours.
 *
 * @module
 */

import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { mlxKernels } from "./mlx.ts";
import { type QmmStyle, tiledBuilds, tiledSteps } from "./steps.ts";
import {
  predictQmm,
  type QmmTile,
  qmmTileRules,
  qmmTiles,
  sliceLength,
  tooManyOutputs,
} from "./tiles.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";

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

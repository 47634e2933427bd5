/**
 * The two launches of decompose-k with the gap between them closed: the reference for what
 * kernels of one launch save.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { splitKernels } from "./decompose.ts";
import { noClusters } from "../limits.ts";
import type { MatmulPoint } from "../point.ts";
import { builds, partialBytes, partialStep, sumSplitStep } from "./steps.ts";
import type { TileConfig } from "./tiles.ts";

const [decomposeK] = splitKernels;

/** decompose-k whose reducer is launched while the partial products run. */
export const decomposeKPdl: Kernel<MatmulPoint> = {
  ...decomposeK!,
  name: "decompose-k-pdl",
  idea: "decompose-k at the same config, its reducer launched before it is due",
  follows: decomposeK!.name,
  unsupported: (point, info) =>
    decomposeK!.unsupported(point, info) ??
      (noClusters(info) && `${info.arch} has no dependent launch: sm_90 has`),
  builds: (point, config) => [
    builds.partial(point, config as TileConfig, true),
    builds.sumSplit(point, true),
  ],
  prepare(context) {
    const { point } = context;
    const config = context.config as TileConfig;
    const partials = context.alloc(partialBytes(point, config.SPLIT));
    const to = { partials, fused: true, overlap: true };
    return {
      steps: [
        partialStep(context, config, to),
        sumSplitStep(context, config.SPLIT, to),
      ],
    };
  },
};

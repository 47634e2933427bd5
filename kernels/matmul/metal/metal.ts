/**
 * The Metal kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { Step } from "../../../bench/device/queue.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { tooLarge } from "../limits.ts";
import {
  metalBuilds,
  metalEpilogueStep,
  metalPartialStep,
  metalProductStep,
  type MetalSum,
  metalSumSplitStep,
  metalSumTileStep,
} from "./steps.ts";
import {
  type MetalConfig,
  metalPredict,
  metalRules,
  metalTiles,
} from "./tiles.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import { inductorSplits, noSplit, optimizedSplits } from "../splits.ts";
import { partialBytes, type Site } from "../cuda/steps.ts";

/** An output tile for each threadgroup, K uncut. */
const product = defineKernel<MatmulPoint, MetalConfig>(matmul, {
  name: "product",
  backend: "metal",
  idea: "one launch on simdgroup matrices, an output tile for each threadgroup",
  unsupported: tooLarge,
  configs: () => metalTiles.map((tile) => ({ ...tile, SPLIT: 1 })),
  rules: metalRules,
  predict: metalPredict,
  builds: (point, config) => [metalBuilds.product(point, config)],
  prepare: (site) => ({ steps: [metalProductStep(site, site.config)] }),
});

interface Family {
  readonly name: string;
  readonly idea: string;
  splits(point: MatmulPoint): readonly number[];
  noSplit(point: MatmulPoint): string;
  readonly sumBuild: "sumTile" | "sumSplit";
  sum(site: Site, config: MetalConfig, sum: MetalSum): Step;
}

/** The kernel with its epilogue in the reducer, and the one with it apart. */
function withUnfused(family: Family): readonly Kernel<MatmulPoint>[] {
  return [true, false].map((fused) =>
    defineKernel<MatmulPoint, MetalConfig>(matmul, {
      name: fused ? family.name : `${family.name}-unfused`,
      backend: "metal",
      idea: fused
        ? family.idea
        : `${family.name} at the same config, the epilogue as a kernel of its own`,
      ...(fused ? {} : { follows: family.name }),
      unsupported(point) {
        if (!fused && point.epilogue === "none") {
          return `${family.name} has no epilogue to unfuse`;
        }
        return tooLarge(point) ??
          (family.splits(point).length > 0 ? undefined : family.noSplit(point));
      },
      configs: (point) =>
        metalTiles.flatMap((tile) =>
          family.splits(point).map((SPLIT): MetalConfig => ({ ...tile, SPLIT }))
        ),
      rules: metalRules,
      predict: metalPredict,
      builds: (point, config) => [
        metalBuilds.partial(point, config),
        metalBuilds[family.sumBuild](point),
        ...(fused ? [] : [metalBuilds.epilogue(point)]),
      ],
      prepare(site) {
        const { point, config } = site;
        const partials = site.alloc(partialBytes(point, config.SPLIT));
        return {
          steps: [
            metalPartialStep(site, config, partials),
            family.sum(site, config, { partials, fused }),
            ...(fused ? [] : [metalEpilogueStep(site)]),
          ],
        };
      },
    })
  );
}

/** In the order of listings and tables. */
export const metalKernels: readonly Kernel<MatmulPoint>[] = [
  product,
  ...withUnfused({
    name: "decompose-k-tile",
    idea:
      "own partial products of K slices, then a reducer with the same tiles",
    splits: (point) => inductorSplits(point, 10),
    noSplit,
    sumBuild: "sumTile",
    sum: metalSumTileStep,
  }),
  ...withUnfused({
    name: "decompose-k",
    idea: "a reducer that spreads the slices over its lanes, and more splits",
    splits: optimizedSplits,
    noSplit: (point) =>
      `${
        noSplit(point)
      }, or a power of two up to 256 with slices of at least 16`,
    sumBuild: "sumSplit",
    sum: metalSumSplitStep,
  }),
];

/**
 * The HIP kernels of {@linkcode matmul}, simplest first.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { Step } from "../../../bench/device/queue.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { hipLibraries } from "./library.ts";
import {
  hipBuilds,
  hipEpilogueStep,
  hipPartialStep,
  type HipSum,
  hipSumSplitStep,
  hipSumTileStep,
} from "./steps.ts";
import { type HipConfig, hipPredict, hipRules, hipTiles } from "./tiles.ts";
import { tooLarge } from "../limits.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import { inductorSplits, noSplit, optimizedSplits } from "../splits.ts";
import { partialBytes, type Site } from "../cuda/steps.ts";

/** Why the device has no MFMA of this kind. */
export function noMfma({ arch }: DeviceInfo): string | undefined {
  return /^gfx9(0a|4[0-2]|50)$/.test(arch)
    ? undefined
    : `${arch} has no MFMA of bf16 by 16 x 16 x 16: gfx90a, gfx942 and gfx950 have`;
}

interface Family {
  readonly name: string;
  readonly idea: string;
  splits(point: MatmulPoint): readonly number[];
  noSplit(point: MatmulPoint): string;
  readonly sumBuild: "sumTile" | "sumSplit";
  sum(site: Site, config: HipConfig, sum: HipSum): Step;
}

/** The kernel with its epilogue in the reducer, and the one with it apart. */
function withUnfused(family: Family): readonly Kernel<MatmulPoint>[] {
  return [true, false].map((fused) =>
    defineKernel<MatmulPoint, HipConfig>(matmul, {
      name: fused ? family.name : `${family.name}-unfused`,
      backend: "hip",
      idea: fused
        ? family.idea
        : `${family.name} at the same config, the epilogue as a kernel of its own`,
      ...(fused ? {} : { follows: family.name }),
      unsupported(point, info) {
        if (!fused && point.epilogue === "none") {
          return `${family.name} has no epilogue to unfuse`;
        }
        return tooLarge(point) ?? noMfma(info) ??
          (family.splits(point).length > 0 ? undefined : family.noSplit(point));
      },
      configs: (point) =>
        hipTiles.flatMap((tile) =>
          family.splits(point).map((SPLIT): HipConfig => ({ ...tile, SPLIT }))
        ),
      rules: hipRules,
      predict: hipPredict,
      builds: (point, config) => [
        hipBuilds.partial(point, config),
        hipBuilds[family.sumBuild](point),
        ...(fused ? [] : [hipBuilds.epilogue(point)]),
      ],
      prepare(site) {
        const { point, config, operands } = site;
        const partials = site.alloc(partialBytes(point, config.SPLIT));
        return {
          steps: [
            hipPartialStep(site, config, partials),
            family.sum(site, config, { partials, fused }),
            ...(fused ? [] : [hipEpilogueStep(site, operands.C!, point.ldc)]),
          ],
        };
      },
    })
  );
}

/** In the order of listings and tables. */
export const hipKernels: readonly Kernel<MatmulPoint>[] = [
  hipLibraries.plain,
  hipLibraries.fused,
  hipLibraries.tuned,
  hipLibraries.bmmSum,
  ...withUnfused({
    name: "decompose-k-tile",
    idea:
      "own partial products of K slices, then a reducer with the same tiles",
    splits: (point) => inductorSplits(point, 10),
    noSplit,
    sumBuild: "sumTile",
    sum: hipSumTileStep,
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
    sum: (site, { SPLIT }, sum) => hipSumSplitStep(site, SPLIT, sum),
  }),
];

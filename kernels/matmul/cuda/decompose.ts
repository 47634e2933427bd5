/**
 * The decompose-k kernels: partial products of K slices in fp32, then a reducer.
 *
 * @module
 */

import type { Memory, Step } from "../../../bench/device/queue.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { tooLarge, tooOld } from "../limits.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import { inductorSplits, noSplit, optimizedSplits } from "../splits.ts";
import {
  builds,
  epilogueStep,
  type Finish,
  partialBytes,
  partialStep,
  type Site,
  sumSplitStep,
  sumTileStep,
} from "./steps.ts";
import {
  baselineTiles,
  optimizedTiles,
  type OrderedTile,
  predict,
  rules,
  type TileConfig,
} from "./tiles.ts";

/** What distinguishes the two families. */
interface Family {
  readonly name: string;
  readonly idea: string;
  readonly tiles: readonly OrderedTile[];
  splits(point: MatmulPoint): readonly number[];
  noSplit(point: MatmulPoint): string;
  readonly sumBuild: "sumTile" | "sumSplit";
  sum(
    site: Site,
    config: TileConfig,
    to: Finish & { readonly partials: Memory },
  ): Step;
}

/** The kernel with its epilogue in the reducer, and the one with it apart. */
function withUnfused(
  family: Family,
): readonly [Kernel<MatmulPoint>, Kernel<MatmulPoint>] {
  const variant = (fused: boolean) =>
    defineKernel<MatmulPoint, TileConfig>(matmul, {
      name: fused ? family.name : `${family.name}-unfused`,
      backend: "cuda",
      idea: fused
        ? family.idea
        : `${family.name} at the same config, the epilogue as a kernel of its own`,
      ...(fused ? {} : { follows: family.name }),
      unsupported(point, info) {
        if (!fused && point.epilogue === "none") {
          return `${family.name} has no epilogue to unfuse`;
        }
        return tooLarge(point) ?? tooOld(info) ??
          (family.splits(point).length > 0 ? undefined : family.noSplit(point));
      },
      configs: (point) =>
        family.tiles.flatMap((tile) =>
          family.splits(point).map((SPLIT): TileConfig => ({ ...tile, SPLIT }))
        ),
      rules,
      predict,
      builds: (point, config) => [
        builds.partial(point, config),
        builds[family.sumBuild](point),
        ...(fused ? [] : [builds.epilogue(point)]),
      ],
      prepare(site) {
        const { point, config, operands } = site;
        const partials = site.alloc(partialBytes(point, config.SPLIT));
        return {
          steps: [
            partialStep(site, config, { partials }),
            family.sum(site, config, { partials, fused }),
            ...(fused ? [] : [epilogueStep(site, operands.C!, point.ldc)]),
          ],
        };
      },
    });
  return [variant(true), variant(false)];
}

/** The seed's baseline: the reducer has the shape of the product. */
export const tileKernels: readonly Kernel<MatmulPoint>[] = withUnfused({
  name: "decompose-k-tile",
  idea: "own partial products of K slices, then a reducer with the same tiles",
  tiles: baselineTiles,
  splits: (point) => inductorSplits(point, 10),
  noSplit,
  sumBuild: "sumTile",
  sum: sumTileStep,
});

/** The seed's optimised kernel: the reducer spreads the slices over its threads. */
export const splitKernels: readonly Kernel<MatmulPoint>[] = withUnfused({
  name: "decompose-k",
  idea: "a reducer that spreads the slices over its threads, and smaller tiles",
  tiles: optimizedTiles,
  splits: optimizedSplits,
  noSplit: (point) =>
    `${noSplit(point)}, or a power of two up to 256 with slices of at least 16`,
  sumBuild: "sumSplit",
  sum: (site, { SPLIT }, to) => sumSplitStep(site, SPLIT, to),
});

/**
 * The tensor-core kernels of {@linkcode qmm}: weights stay packed until they are in
 * registers.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { noClusters } from "../../common/arch.ts";
import { predictTile, tileConfigs } from "./tile_list.ts";
import {
  sharedBytes,
  sliceOf,
  threadsOf,
  type TileConfig,
  tileRules,
  tilesOf,
} from "./tiles.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import { weightMemory } from "../weight_args.ts";

interface Variant {
  readonly name: string;
  readonly idea: string;
  /** Slices of K. */
  readonly clusters: readonly number[];
}

function build(
  { type, mode, bits, group }: QmmPoint,
  config: TileConfig,
): Build {
  return {
    source: new URL("./qmm.cu", import.meta.url),
    defines: {
      ...{ TYPE: type, MODE: mode.toUpperCase(), BITS: bits, GROUP: group },
      ...config,
    },
  };
}

function define({ name, idea, clusters }: Variant): Kernel<QmmPoint> {
  return defineKernel<QmmPoint, TileConfig>(qmm, {
    name,
    backend: "cuda",
    idea,
    unsupported: ({ transposed }, info) =>
      noClusters(info) ??
        (transposed
          ? undefined
          : "groups of weights run along N: no scale is common to a sum over K"),
    configs: () => tileConfigs(clusters),
    rules: tileRules,
    predict: predictTile,
    builds: (point, config) => [build(point, config)],
    prepare({ point, config, operands, program }) {
      const { m, n, k, bits } = point;
      if (operands.x!.address % 16n !== 0n) {
        throw new CaseError(
          "unsupported",
          "x starts at no multiple of 16 bytes, which its copies need",
        );
      }
      const wide = k * bits / 8 % 16 === 0 && operands.w!.address % 16n === 0n;
      const step = program(build(point, config), "qmm").step([
        mem(operands.x!),
        ...weightMemory(operands),
        mem(operands.y!),
        ...[m, n, k, sliceOf(point, config), wide ? 1 : 0].map(i32),
      ], {
        grid: [config.CLUSTER, ...tilesOf(point, config)],
        block: [threadsOf(config), 1, 1],
        cluster: config.CLUSTER,
        sharedBytes: sharedBytes(point, config),
      });
      return { steps: [step] };
    },
  });
}

/** All of K in a block, shared by its warps. */
export const qmmTile: Kernel<QmmPoint> = define({
  name: "qmm",
  idea: "tensor cores, weights decoded in registers, K over a block's warps",
  clusters: [1],
});

/** Slices of K meet in distributed shared memory. */
export const qmmSplitK: Kernel<QmmPoint> = define({
  name: "qmm-splitk",
  idea: "qmm with K over a cluster's blocks too, the last slice of any length",
  clusters: [2, 3, 4, 5, 8],
});

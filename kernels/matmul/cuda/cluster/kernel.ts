/**
 * What the kernels of one launch have in common: their builds, and the launch.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../../../bench/device/device.ts";
import { defineKernel } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { argsOf } from "./args.ts";
import {
  type ClusterConfig,
  columnsOf,
  evenness,
  gridOf,
  isWarpgroups,
  sliceOf,
  tilesAtOnce,
  tilesFirst,
} from "./configs.ts";
import { sharedBytes, threadsOf } from "./shared_memory.ts";
import { rules } from "./rules.ts";
import { noClusters } from "../../../common/arch.ts";
import { predict, resident } from "./model.ts";
import { matmul } from "../../op.ts";
import { type MatmulPoint, tooLarge } from "../../point.ts";
import { isWhole } from "../../../common/decompose_k.ts";

/** What sets one kernel apart. */
export interface Variant {
  readonly name: string;
  readonly idea: string;
  configs(point: MatmulPoint, info: DeviceInfo): Iterable<ClusterConfig>;
  /** What it cannot do that others can. */
  unsupported?(point: MatmulPoint, info: DeviceInfo): string | undefined;
  /** Whether the product is computed transposed: C^T = B^T A^T. @default {false} */
  readonly swapped?: boolean;
  /** How clusters that share a tile meet. @default {"alone", there is one} */
  readonly join?: "alone" | "last" | "exchange";
}

/** Makes a kernel of `cluster_*.cu`. */
export function defineCluster(
  { name, idea, configs, unsupported, swapped = false, join = "alone" }:
    Variant,
): Kernel<MatmulPoint> {
  // What the kernel sees: with swapped operands the rows of the product are C's columns.
  const seen = (point: MatmulPoint): MatmulPoint =>
    swapped
      ? { ...point, m: point.n, n: point.m, lda: point.ldb, ldb: point.lda }
      : point;
  const build = (point: MatmulPoint, config: ClusterConfig): Build => {
    const { LOAD, ...tile } = config;
    const columns = columnsOf(seen(point), config);
    return {
      source: new URL(`./${entryOf(point, config)}.cu`, import.meta.url),
      defines: {
        TYPE: point.type,
        LAYOUT: point.layout,
        ...tile,
        JOIN: join,
        SWAPPED: swapped ? 1 : 0,
        ...(tilesFirst(seen(point), config) ? { TILES_FIRST: 1 } : {}),
        ...(LOAD === "warps" ? { PRIVATE: 1 } : {}),
        ...(columns === config.BN ? {} : { COLUMNS: columns }),
        ...(LOAD === "direct" || LOAD === "tensor"
          ? {}
          : evenness(seen(point), config)),
      },
    };
  };
  return defineKernel<MatmulPoint, ClusterConfig>(matmul, {
    name,
    backend: "cuda",
    idea,
    unsupported: (point, info) =>
      tooLarge(point) ?? noClusters(info) ?? unsupported?.(point, info),
    configs: (point, info) => configs(seen(point), info),
    rules: Object.fromEntries(
      Object.entries(join === "exchange" ? { ...rules, resident } : rules).map((
        [rule, test],
      ) => [
        rule,
        (point, config, info) => test(seen(point), config, info),
      ]),
    ),
    predict: (point, config, info) => predict(seen(point), config, info),
    builds: (point, config) => [build(point, config)],
    prepare(site) {
      const { config, operands } = site;
      const point = seen(site.point);
      const program = site.program(
        build(site.point, config),
        entryOf(point, config),
      );
      const [a, b] = swapped
        ? [operands.B!, operands.A!]
        : [operands.A!, operands.B!];
      const slice = sliceOf(point, config);
      const whole = isWhole(site, slice);
      const { EVEN_A, EVEN_B } = evenness(point, config);
      if ((EVEN_A || EVEN_B || isWarpgroups(config)) && !whole) {
        throw new Error(`Operands of ${name} do not start on 16 bytes`);
      }
      return {
        steps: [
          program.step(
            argsOf(site, { point, config, join, a, b, slice, whole }),
            {
              grid: gridOf(point, config),
              block: [threadsOf(config), 1, 1],
              cluster: config.CLUSTER * tilesAtOnce(config),
              sharedBytes: sharedBytes(point, config),
            },
          ),
        ],
      };
    },
  });
}

function entryOf({ type }: MatmulPoint, { LOAD }: ClusterConfig): string {
  if (LOAD !== "ring" && LOAD !== "warps") return `cluster_${LOAD}`;
  return type === "f32" ? "cluster_ffma" : "cluster_mma";
}

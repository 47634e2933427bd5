/**
 * What the kernels of one launch have in common: their builds, and the launch.
 *
 * @module
 */

import {
  type Arg,
  type Build,
  type DeviceInfo,
  i32,
  i64,
  mem,
} from "../../bench/device.ts";
import { BYTES } from "../../bench/dtype.ts";
import { defineKernel, type Kernel } from "../../bench/kernel.ts";
import {
  type ClusterConfig,
  columnsOf,
  evenness,
  sharedBytes,
  sliceOf,
  slicesOf,
  tilesOf,
} from "./cluster_configs.ts";
import { rules } from "./cluster_rules.ts";
import { noClusters, tooLarge } from "./limits.ts";
import { predict, resident } from "./cluster_model.ts";
import { hasRelu, matmul, type MatmulPoint } from "./op.ts";
import { isWhole, type Site } from "./steps.ts";

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
        ...(LOAD === "warps" ? { PRIVATE: 1 } : {}),
        ...(columns === config.BN ? {} : { COLUMNS: columns }),
        ...(LOAD === "direct" ? {} : evenness(seen(point), config)),
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
      const tiles = tilesOf(point, config);
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
      if ((EVEN_A || EVEN_B || config.LOAD === "wgmma") && !whole) {
        throw new Error(`Operands of ${name} do not start on 16 bytes`);
      }
      const sizes = [
        point.m,
        point.n,
        point.k,
        slice,
        point.lda,
        point.ldb,
        point.ldc,
      ];
      return {
        steps: [
          program.step([
            mem(a),
            mem(b),
            operands.bias ? mem(operands.bias) : i64(0),
            mem(operands.C!),
            ...meeting(site, { point, config, join }),
            ...sizes.map(i32),
            i32(hasRelu(point) ? 1 : 0),
            i32(whole ? 1 : 0),
          ], {
            grid: [slicesOf(config), ...tiles],
            block: [32 * config.WARPS, 1, 1],
            cluster: config.CLUSTER,
            sharedBytes: sharedBytes(point, config),
          }),
        ],
      };
    },
  });
}

function entryOf({ type }: MatmulPoint, { LOAD }: ClusterConfig): string {
  if (LOAD === "wgmma" || LOAD === "direct") return `cluster_${LOAD}`;
  return type === "f32" ? "cluster_ffma" : "cluster_mma";
}

/**
 * Where clusters of one tile meet, and how many have arrived there. The poison of a fresh
 * workspace is the empty state of both; each run leaves an empty one behind.
 */
function meeting(
  site: Site,
  { point, config, join }: {
    readonly point: MatmulPoint;
    readonly config: ClusterConfig;
    readonly join: Variant["join"];
  },
): Arg[] {
  const { BM, CLUSTER, PARTS } = config;
  if (join === "alone") return [i64(0), i64(0)];
  const [x, y] = tilesOf(point, config);
  // Pieces of a share are whole units of at most 16 bytes.
  const share = Math.ceil(BM * columnsOf(point, config) / CLUSTER / 2) * 2;
  const piece = Math.ceil(share / PARTS / 4) * 4;
  const sums = site.alloc(x * y * CLUSTER * PARTS * PARTS * piece * BYTES.f32);
  if (join === "exchange") return [mem(sums), i64(0)];
  return [mem(sums), mem(site.alloc(x * y * CLUSTER * 4))];
}

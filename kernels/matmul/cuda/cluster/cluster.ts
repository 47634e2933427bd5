/**
 * The kernels of one launch: K slices meet in distributed shared memory, or, where one
 * cluster does not fill the machine, also in a workspace.
 *
 * @module
 */

import {
  type Build,
  type DeviceInfo,
  tensorMapOn,
} from "../../../../bench/device/device.ts";
import {
  type Arg,
  i32,
  i64,
  mem,
  type Memory,
} from "../../../../bench/device/queue.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { defineKernel } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { noClusters, noWgmma } from "../../../common/arch.ts";
import { isWhole, type Site } from "../../../common/decompose_k.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import {
  type ClusterConfig,
  columnsOf,
  evenness,
  gridOf,
  isWarpgroups,
  sharedBytes,
  sliceOf,
  threadsOf,
  tilesAtOnce,
  tilesFirst,
  tilesOf,
} from "./configs.ts";
import { clusterConfigs, exchangeConfigs, gridConfigs } from "./lists.ts";
import { predict, resident } from "./model.ts";
import { rules } from "./rules.ts";
import { wgmmaConfigs } from "./wgmma_configs.ts";

/** A launch, as the kernel sees it: `a` and `b` are swapped where it is. */
interface Given {
  readonly point: MatmulPoint;
  readonly config: ClusterConfig;
  /** The protocol by which clusters that share a tile add their sums. */
  readonly join: "alone" | "last" | "exchange";
  readonly a: Memory;
  readonly b: Memory;
  /** Elements of K that a block owns. */
  readonly slice: number;
  /** Whether rows start on 16 bytes in every slice and are whole chunks long. */
  readonly whole: boolean;
}

/**
 * The parameters in the order of the entries of `cluster_*.cu`.
 *
 * @throws {CaseError} As {@linkcode tensorMapOn}.
 */
function argsOf(site: Site, given: Given): Arg[] {
  const { point: { m, n, k, lda, ldb, ldc }, config, a, b, slice } = given;
  const { bias, C } = site.operands;
  const output = [bias ? mem(bias) : i64(0), mem(C!)];
  const relu = i32(hasRelu(given.point) ? 1 : 0);
  if (config.LOAD === "tensor") {
    const sizes = [m, n, k, slice, ldc].map(i32);
    return [...tensorMaps(site, given), ...output, ...sizes, relu];
  }
  return [
    mem(a),
    mem(b),
    ...output,
    ...meeting(site, given),
    ...[m, n, k, slice, lda, ldb, ldc].map(i32),
    relu,
    i32(given.whole ? 1 : 0),
  ];
}

/** Of both operands, in boxes of a tile's rows and 128 bytes of each. */
function tensorMaps({ device }: Site, { point, config, a, b }: Given): Arg[] {
  const { m, n, k: columns, lda, ldb, type } = point;
  const box = { type, columns, boxColumns: 128 / BYTES[type] };
  return [
    tensorMapOn(device, a, { ...box, rows: m, ld: lda, boxRows: config.BM }),
    tensorMapOn(device, b, { ...box, rows: n, ld: ldb, boxRows: config.BN }),
  ];
}

/**
 * The workspace in which clusters of one tile add their sums, and its counters. The poison of a
 * fresh workspace is the empty state of both; each run leaves an empty one behind.
 */
function meeting(
  site: Site,
  { point, config, join }: Given,
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

/** The differences of one kernel from the others. */
interface Variant {
  readonly name: string;
  readonly idea: string;
  configs(point: MatmulPoint, info: DeviceInfo): Iterable<ClusterConfig>;
  /** Returns why it cannot run where others can. */
  unsupported?(point: MatmulPoint, info: DeviceInfo): string | undefined;
  /** Whether the product is computed transposed: C^T = B^T A^T. @default {false} */
  readonly swapped?: boolean;
  /** The protocol of clusters that share a tile. @default {"alone", there is one} */
  readonly join?: "alone" | "last" | "exchange";
}

/** Makes a kernel of `cluster_*.cu`. */
function defineCluster(
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

/** Slices of K meet in distributed shared memory. */
export const clusterK: Kernel<MatmulPoint> = defineCluster({
  name: "cluster-k",
  idea: "one launch: K slices are blocks of a cluster, their sums meet there",
  configs: clusterConfigs,
});

/** Slices of K meet in a workspace, those of a cluster before in its shared memory. */
export const gridK: Kernel<MatmulPoint> = defineCluster({
  name: "grid-k",
  idea: "one launch: the last cluster of a tile to arrive adds all their sums",
  configs: gridConfigs,
  join: "last",
});

/** Slices of K exchange pieces of their sums through the cache. */
export const exchangeK: Kernel<MatmulPoint> = defineCluster({
  name: "exchange-k",
  idea:
    "one launch: blocks hand one another pieces of their sums, without a fence",
  configs: exchangeConfigs,
  join: "exchange",
});

/** As {@linkcode clusterK}, with C^T = B^T A^T: few rows of A are the narrow side. */
export const clusterKSwapped: Kernel<MatmulPoint> = defineCluster({
  name: "cluster-k-swapped",
  idea: "cluster-k with the operands swapped: the many columns are the rows",
  configs: clusterConfigs,
  unsupported: ({ layout }) =>
    layout === "nn"
      ? "its first operand is B, which must be stored by columns: layout nt"
      : undefined,
  swapped: true,
});

/** As {@linkcode clusterK}, multiplied by whole warpgroups. */
export const wgmmaK: Kernel<MatmulPoint> = defineCluster({
  name: "wgmma-k",
  idea: "cluster-k with products of warpgroups: large tiles read less",
  configs: wgmmaConfigs,
  unsupported({ k, lda, ldb, layout, type }, info) {
    const old = noWgmma(info);
    if (old) return old;
    if (type === "f32") return "wgmma has no products of IEEE fp32";
    if (layout === "nn") {
      return "it reads K along the rows of B, which must be stored by columns: layout nt";
    }
    return [k, lda, ldb].every((length) => length % 8 === 0)
      ? undefined
      : "it reads rows by 16 bytes: K, lda and ldb must be multiples of 8";
  },
});

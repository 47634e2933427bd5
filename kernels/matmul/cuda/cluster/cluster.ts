/**
 * The kernels of one launch: K slices meet in distributed shared memory, or, where one
 * cluster does not fill the machine, exchange their sums through a workspace.
 *
 * @module
 */

import {
  type Build,
  type Device,
  type DeviceInfo,
  tensorMapOn,
} from "../../../../bench/device/device.ts";
import { EARLY, type Memory } from "../../../../bench/device/queue.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { isWhole, type LaunchContext } from "../../../common/decompose_k.ts";
import { launched } from "../../../common/launch.ts";
import { noClusters, noWgmma } from "../../../common/rules.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import {
  boxRowsOf,
  type ClusterConfig,
  columnsOf,
  evenFlags,
  gridOf,
  sharedBytes,
  sliceOf,
  threadsOf,
  tilesAtOnce,
  tilesFirst,
  tilesOf,
} from "./configs.ts";
import { clusterConfigs, exchangeConfigs } from "./lists.ts";
import { predict, resident, rules } from "./rules.ts";
import { predictWgmma, wgmmaConfigs } from "./wgmma_configs.ts";

/** Of both operands as stored, in boxes of the rows that a block asks for and 128 bytes of each. @throws {CaseError} */
function tensorMaps(
  device: Device,
  point: MatmulPoint,
  { a, b, config }: {
    readonly a: Memory;
    readonly b: Memory;
    readonly config: ClusterConfig;
  },
) {
  const { m, n, k, lda, ldb, type, layout } = point;
  const box = { type, boxColumns: 128 / BYTES[type] };
  const [ofA, ofB] = boxRowsOf(point, config);
  const [rows, columns] = layout === "nt" ? [n, k] : [k, n];
  return [
    tensorMapOn(device, a, {
      ...box,
      rows: m,
      columns: k,
      ld: lda,
      boxRows: ofA,
    }),
    tensorMapOn(device, b, { ...box, rows, columns, ld: ldb, boxRows: ofB }),
  ];
}

/**
 * The workspace through which clusters of one tile exchange their sums. The poison of a fresh one
 * is its empty state; each run leaves an empty one behind.
 */
function workspace(
  { alloc }: LaunchContext,
  point: MatmulPoint,
  config: ClusterConfig,
): Memory {
  const { BM, CLUSTER, PARTS } = config;
  const [x, y] = tilesOf(point, config);
  // Pieces of a share are whole units of at most 16 bytes.
  const share = Math.ceil(BM * columnsOf(point, config) / CLUSTER / 2) * 2;
  const piece = Math.ceil(share / PARTS / 4) * 4;
  return alloc(x * y * CLUSTER * PARTS * PARTS * piece * BYTES.f32);
}

/** The macros and the entry of cluster.cu, by how operands are loaded. */
const LOADS = {
  ring: { macros: {}, entry: "cluster_mma" },
  warps: { macros: { PRIVATE: 1 }, entry: "cluster_mma" },
  tensor: { macros: { WARPGROUPS: 1 }, entry: "cluster_wgmma" },
} as const;

/** The differences of one kernel from the others. */
interface Variant {
  readonly name: string;
  readonly idea: string;
  configs(point: MatmulPoint, info: DeviceInfo): Iterable<ClusterConfig>;
  /** Returns why it cannot run where others can. */
  unsupported?(point: MatmulPoint, info: DeviceInfo): string | undefined;
  /** Whether clusters that share a tile exchange their sums. @default {a tile has one cluster} */
  readonly exchange?: boolean;
}

/** Makes a kernel of cluster.cu. */
function defineCluster(
  { configs, unsupported, exchange = false, ...named }: Variant,
): Kernel<MatmulPoint> {
  const build = (point: MatmulPoint, config: ClusterConfig): Build => {
    const { LOAD, ...tile } = config;
    const columns = columnsOf(point, config);
    return {
      source: new URL("./cluster.cu", import.meta.url),
      defines: {
        TYPE: point.type,
        LAYOUT: point.layout,
        ...tile,
        EXCHANGE: exchange ? 1 : 0,
        ...LOADS[LOAD].macros,
        ...(point.type === "f32" ? { FFMA: 1 } : {}),
        ...(tilesFirst(point, config) ? { TILES_FIRST: 1 } : {}),
        ...(columns === config.BN ? {} : { COLUMNS: columns }),
        ...(LOAD === "tensor" ? {} : evenFlags(point, config)),
      },
    };
  };
  return launched<MatmulPoint, ClusterConfig>(matmul, {
    ...named,
    backend: "cuda",
    unsupported: (point, info) =>
      tooLarge(point) ?? noClusters(info) ?? unsupported?.(point, info),
    configs,
    rules: exchange ? { ...rules, resident } : rules,
    predict: (point, config, info) =>
      (config.LOAD === "tensor" ? predictWgmma : predict)(point, config, info),
    startsEarly: () => !exchange,
    build,
    launch(site) {
      const { point, config, operands: { A, B, bias, C } } = site;
      const { m, n, k, lda, ldb, ldc, type } = point;
      const slice = sliceOf(point, config);
      const whole = isWhole(site, slice);
      const { EVEN_A, EVEN_B } = evenFlags(point, config);
      const tensor = config.LOAD === "tensor";
      if ((EVEN_A || EVEN_B || tensor) && !whole) {
        throw new Error(`Operands of ${named.name} do not start on 16 bytes`);
      }
      const { entry } = LOADS[config.LOAD];
      return {
        entry: type === "f32" ? "cluster_ffma" : entry,
        args: [
          ...(tensor
            ? tensorMaps(site.device, point, { a: A!, b: B!, config })
            : [A, B]),
          ...[bias, C],
          ...(tensor
            ? []
            : [exchange ? workspace(site, point, config) : undefined]),
          ...[m, n, k, slice, ...(tensor ? [] : [lda, ldb]), ldc],
          ...[hasRelu(point), ...(tensor ? [] : [whole]), EARLY],
        ],
        shape: {
          grid: gridOf(point, config),
          block: [threadsOf(config), 1, 1],
          cluster: config.CLUSTER * tilesAtOnce(config),
          sharedBytes: sharedBytes(point, config),
          // Its blocks wait for one another.
          ...(exchange ? { cooperative: true } : {}),
        },
      };
    },
  });
}

/** Slices of K meet in distributed shared memory. */
export const clusterK: Kernel<MatmulPoint> = defineCluster({
  name: "cluster-k",
  idea: "one launch: split-K over a cluster, sums in distributed shared memory",
  configs: clusterConfigs,
});

/** Slices of K exchange pieces of their sums through the cache. */
export const exchangeK: Kernel<MatmulPoint> = defineCluster({
  name: "exchange-k",
  idea: "one launch: split-K, blocks exchange partial sums without a fence",
  configs: exchangeConfigs,
  exchange: true,
});

/** As {@linkcode clusterK}, multiplied by whole warpgroups. */
export const wgmmaK: Kernel<MatmulPoint> = defineCluster({
  name: "wgmma-k",
  idea: "cluster-k with wgmma: larger tiles, which read less",
  configs: wgmmaConfigs,
  unsupported({ n, k, lda, ldb, layout, type }, info) {
    const old = noWgmma(info);
    if (old) return old;
    if (type === "f32") return "wgmma has no products of IEEE fp32";
    const whole = [k, lda, ldb, layout === "nn" ? n : k];
    return whole.every((length) => length % 8 === 0)
      ? undefined
      : `it reads rows by 16 bytes: ${
        layout === "nn" ? "N, " : ""
      }K, lda and ldb must be multiples of 8`;
  },
});

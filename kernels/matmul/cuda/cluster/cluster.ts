/**
 * The kernels of one launch: K slices meet in distributed shared memory, or, where one
 * cluster does not fill the machine, also in a workspace.
 *
 * @module
 */

import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { noWgmma } from "../../../common/arch.ts";
import { defineCluster } from "./kernel.ts";
import { clusterConfigs, exchangeConfigs, gridConfigs } from "./lists.ts";
import type { MatmulPoint } from "../../point.ts";
import { wgmmaConfigs } from "./wgmma_configs.ts";

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

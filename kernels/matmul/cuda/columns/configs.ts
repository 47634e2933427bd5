/**
 * The configs of `columns-k` that are tried, and a model of their time.
 *
 * @module
 */

import type { DeviceInfo } from "../../../../bench/device/device.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { grid } from "../../../../bench/model/grid.ts";
import { CLOCKS_PER_US, clustersAtOnce } from "../../../common/sm90.ts";
import {
  emptyBlocks,
  evenRows,
  type RingConfig,
  tilingOf,
  waveTiles,
  WGMMA_ROWS,
} from "../../../common/wgmma_ring.ts";
import type { MatmulPoint } from "../../point.ts";
import {
  BOX,
  bySlot,
  type ColumnsConfig,
  hasWholeBoxes,
  readsWithinStep,
  ringSizesOf,
  stages,
  wgmmaRows,
} from "./tile.ts";

/** Outputs of a row of A of a tile. */
const HEIGHTS = [32, 40, 48, 56, 64, 96, 128, 192];
/** Steps that hide the time of a copy. */
const ENOUGH_STAGES = 5;

/** The most blocks that can share a tile's K while all blocks are on the device at once. */
function clusterOf(
  { m, n, k }: MatmulPoint,
  config: RingConfig,
  info: DeviceInfo,
): number {
  const tiles = Math.ceil(n / config.BM) * Math.ceil(m / config.BN);
  return [8, 7, 6, 5, 4, 3, 2].find((CLUSTER) =>
    tiles <= config.RESIDENT * clustersAtOnce(info, CLUSTER) &&
    bySlot({ ...config, CLUSTER }) && !emptyBlocks(k, CLUSTER, config.BK)
  ) ?? 1;
}

/** The longest step of which enough are under way: a step costs a wait, however long it is. */
function withStep<C extends ColumnsConfig>(
  point: MatmulPoint,
  of: (BK: number) => C,
): C {
  const enough = (config: C) => {
    const { steps } = tilingOf(ringSizesOf(point, config), config);
    return readsWithinStep(config) &&
      stages(point, config) >= Math.min(steps, ENOUGH_STAGES);
  };
  const long = point.k % (3 * BOX) === 0 ? [3 * BOX, 2 * BOX] : [2 * BOX];
  return long.map(of).find(enough) ?? of(BOX);
}

/** Yields tiles of outputs as rows of products, each with the most slices of K. */
function* columnsConfigs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<ColumnsConfig> {
  const { m, n } = point;
  const columns = new Set([64, 128, 192, 256].map((most) => evenRows(m, most)));
  const heights = HEIGHTS.filter((BM) => hasWholeBoxes(point, BM));
  const tiled = { BM: heights, BN: [...columns], RESIDENT: [1, 2] };
  for (const { BM, BN, RESIDENT } of grid(tiled)) {
    const WARPS = wgmmaRows({ BM }) / 16;
    const config = withStep(point, (BK) => {
      const one = { BM, BN, BK, WARPS, CLUSTER: 1, RESIDENT };
      return { ...one, CLUSTER: clusterOf(point, one, info) };
    });
    const blocks = Math.ceil(n / BM) * Math.ceil(m / BN) * config.CLUSTER;
    // Fewer blocks leave more shared memory to each.
    if (blocks > (RESIDENT - 1) * info.units) yield config;
  }
}

/** Yields tiles of rows of A as rows of products. */
function* rowsConfigs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<ColumnsConfig> {
  const whole = point.layout === "nn" ? BOX : 8;
  for (const tile of waveTiles(point, info, whole)) {
    const { BM, BN, WARPS, CLUSTER, RESIDENT } = tile;
    const config = withStep(
      point,
      (BK) => ({ TOKEN_ROWS: 1, BM, BN, BK, WARPS, CLUSTER, RESIDENT }),
    );
    if (!emptyBlocks(point.k, CLUSTER, config.BK)) yield config;
  }
}

/** Yields the configs of both kinds; those of rows of A from whole products of them on. */
export function* columnsKConfigs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<ColumnsConfig> {
  yield* columnsConfigs(point, info);
  if (point.m > WGMMA_ROWS) yield* rowsConfigs(point, info);
}

/** Constants of {@linkcode predictColumnsK}. None is by itself a time or a rate that was measured. */
interface Fit {
  /** Of a launch, and of each byte of a step that the first products wait for. */
  readonly start: number;
  readonly first: number;
  /** Bytes per µs from memory and from the second-level cache. */
  readonly memory: number;
  readonly cache: number;
  /** Of each trip in which all stages are filled again. */
  readonly trip: number;
  /** Clocks of a product for each of its columns, and for all. */
  readonly column: number;
  readonly product: number;
  /** The power by which the parts of the loop are joined. */
  readonly power: number;
  /** Of each block of a multiprocessor but one, and of each wave but one. */
  readonly beside: number;
  readonly wave: number;
  /**
   * Of each byte that a block reads, where there are several waves, times the share of the device that
   * the last one leaves idle.
   */
  readonly tail: number;
  /** Of a cluster, of each value of K that its blocks have, and sums' bytes per µs and their power. */
  readonly cluster: number;
  readonly slice: number;
  readonly sums: number;
  readonly sumsPower: number;
}

/**
 * With fewer than 64 rows of A: to the order of 255 configs on an H200
 * (`docs/notes/2026-11-28-columns-many-rows.md`); `wave` and `tail` to 279 of large N
 * (`docs/notes/2026-11-29-whole-waves.md`).
 */
const FEW: Fit = {
  start: 7.33,
  first: 2.18e-6,
  memory: 3.95e6,
  cache: 18e6,
  trip: 1.47,
  column: 0.415,
  product: 8,
  power: 3.92,
  beside: -0.325,
  wave: 1,
  tail: 7e-6,
  cluster: 0.6,
  slice: 0,
  sums: 28.2e3,
  sumsPower: 1.27,
};
/** With 64 to 512: to 3200 configs of 74 shapes on three H200 (`docs/notes/2026-11-29-rows-of-a.md`). */
const MANY: Fit = {
  start: 6.59,
  first: 8.2e-6,
  memory: 3.94e6,
  cache: 19.85e6,
  trip: 1.35,
  column: 0.51,
  product: 3.16,
  power: 4.61,
  beside: -0.022,
  wave: 2.16,
  tail: 0,
  cluster: -0.27,
  slice: 0.19e-3,
  sums: 23.4e3,
  sumsPower: 1.36,
};

/** A rough time in µs, of use to order configs. */
export function predictColumnsK(
  point: MatmulPoint,
  config: ColumnsConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k, type } = point;
  const { BM, BN, BK, CLUSTER, RESIDENT, TOKEN_ROWS } = config;
  const fit = m < WGMMA_ROWS ? FEW : MANY;
  const { tilesN, tilesM, steps } = tilingOf(
    ringSizesOf(point, config),
    config,
  );
  const bytes = BYTES[type] * BK;
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(blocks / units);
  const full = blocks / units / RESIDENT;
  const waves = Math.ceil(full);
  const tail = waves > 1 ? (waves - full) * (BM + BN) * steps * bytes : 0;
  const products = wgmmaRows(config) / WGMMA_ROWS;
  // With clusters, more than two tiles of A that read the same weights take longer than the rest says.
  const sharers = TOKEN_ROWS ? tilesN : tilesM;
  const again = CLUSTER > 1 ? 1 + 0.25 * Math.max(0, sharers - 2) : 1;
  const clocks = BK / 16 * products * (fit.column * BN + fit.product);
  // From memory, from the cache, the trips in which stages are filled again, and the products.
  const loop = [
    (m + n) * k * BYTES[type] / fit.memory,
    blocks * (BM + BN) * steps * bytes * again / fit.cache,
    fit.trip * Math.max(0, steps / stages(point, config) - 1),
    steps * (beside * clocks / CLOCKS_PER_US + 0.009),
  ];
  const sums = WGMMA_ROWS * BN * BYTES.f32 * (CLUSTER - 1) / CLUSTER;
  return fit.start + fit.first * (BM + BN) * bytes +
    loop.reduce((sum, time) => sum + time ** fit.power, 0) ** (1 / fit.power) +
    fit.beside * (beside - 1) + fit.wave * (waves - 1) + fit.tail * tail -
    0.0026 * Math.max(0, units - blocks) +
    (CLUSTER > 1
      ? fit.cluster + fit.slice * steps * BK +
        sums * (products * beside) ** fit.sumsPower / fit.sums
      : 0);
}

/**
 * Multiplies by wgmma with outputs of a row of A as the 64 rows of a product, and rows of A as its
 * columns.
 *
 * @module
 */

import {
  type DeviceInfo,
  tensorMapOn,
} from "../../../../bench/device/device.ts";
import { EARLY } from "../../../../bench/device/queue.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { grid } from "../../../../bench/model/grid.ts";
import type { Rule } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { isWhole } from "../../../common/decompose_k.ts";
import { launched } from "../../../common/launch.ts";
import { noWgmma } from "../../../common/rules.ts";
import {
  cutOf,
  evenRows,
  haveWholeSlots,
  PRODUCT,
  type RingConfig,
  ringDefines,
  type RingNeeds,
  ringRules,
  ringShape,
  someEach,
  stagesOf,
} from "../../../common/wgmma_ring.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import { clustersAtOnce } from "../cluster/configs.ts";

/** Elements of a line of a box: 128 bytes. */
const BOX = 64;

/** Rows of the products that a tile of `BM` outputs of a row of A takes. */
function productRows({ BM }: Pick<RingConfig, "BM">): number {
  return Math.ceil(BM / PRODUCT) * PRODUCT;
}

/** Slots of a thread: eights of the rows of A that its warp multiplies. */
function slotsOf({ BM, BN, WARPS }: RingConfig): number {
  return productRows({ BM }) * BN / 16 / WARPS / 8;
}

/** Whether each block of a cluster has whole slots. */
function bySlot(config: RingConfig): boolean {
  return haveWholeSlots(slotsOf(config), config.CLUSTER);
}

/** Whether boxes are whole: of a B that is stored by rows they are 64 columns wide. */
function hasWholeBoxes({ layout }: MatmulPoint, BM: number): boolean {
  return layout === "nt" || BM % BOX === 0;
}

/** Whether what products read behind the rows of a tile is of the same step. */
function isBehind({ BM, BN, BK }: RingConfig): boolean {
  return productRows({ BM }) - BM <= BN * BK / BOX;
}

function needsOf(_: MatmulPoint, config: RingConfig): RingNeeds {
  const { BM, BN, BK, WARPS, CLUSTER } = config;
  const most = Math.ceil(slotsOf(config) / CLUSTER);
  const mail = CLUSTER > 1 ? (CLUSTER - 1) * most * 32 * WARPS * 16 + 16 : 0;
  return {
    // A step has two barriers.
    step: (BM + BN) * BK * BYTES.bf16 + 16,
    beside: mail,
    registers: slotsOf(config) * 4 + 32,
  };
}

/** The rules of a config, by name. */
export const columnsRules = {
  tile(_, config) {
    const { BM, BN, BK, WARPS } = config;
    const slots = slotsOf(config);
    return BM % 8 === 0 && BM <= 256 && BK % BOX === 0 && WARPS % 4 === 0 &&
        WARPS * 16 >= productRows(config) && BN <= 256 && slots >= 1 &&
        slots % 1 === 0 && slots <= 32
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`;
  },
  boxes: (point, { BM }) =>
    hasWholeBoxes(point, BM)
      ? undefined
      : `${BM} columns of B are no whole boxes of ${BOX}`,
  behind: (_, config) =>
    isBehind(config)
      ? undefined
      : `products of ${
        productRows(config)
      } rows read the next step behind ${config.BM}`,
  slots: (_, config) =>
    bySlot(config)
      ? undefined
      : `${config.CLUSTER} blocks have no whole parts of ${
        slotsOf(config)
      } slots`,
  store(point, config) {
    const { BM, BN, BK, CLUSTER } = config;
    const stages = stagesOf(point, config, needsOf(point, config));
    const room = stages * (BM + BN) * BK * BYTES.bf16;
    return CLUSTER > 1 || BN * (BM * BYTES.bf16 + 16) <= room
      ? undefined
      : `${BM} x ${BN} outputs have no room in ${stages} steps of BK=${BK}`;
  },
  ...ringRules(needsOf),
} satisfies Record<string, Rule<MatmulPoint, RingConfig>>;

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
    bySlot({ ...config, CLUSTER }) && !someEach(k, CLUSTER, config.BK)
  ) ?? 1;
}

/**
 * Yields tiles with the most slices of K, each with the longest step of which enough are under way:
 * a step costs a wait, however long it is.
 */
function* configs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<RingConfig> {
  const { m, n, k } = point;
  const columns = new Set([64, 128, 192, 256].map((most) => evenRows(m, most)));
  const heights = HEIGHTS.filter((BM) => hasWholeBoxes(point, BM));
  const tiled = { BM: heights, BN: [...columns], RESIDENT: [1, 2] };
  for (const { BM, BN, RESIDENT } of grid(tiled)) {
    const WARPS = productRows({ BM }) / 16;
    const of = (BK: number) => {
      const one = { BM, BN, BK, WARPS, CLUSTER: 1, RESIDENT };
      return { ...one, CLUSTER: clusterOf(point, one, info) };
    };
    const enough = (config: RingConfig) => {
      const { steps } = cutOf(point, config);
      const stages = stagesOf(point, config, needsOf(point, config));
      return isBehind(config) && stages >= Math.min(steps, ENOUGH_STAGES);
    };
    const long = k % (3 * BOX) === 0 ? [3 * BOX, 2 * BOX] : [2 * BOX];
    const config = long.map(of).find(enough) ?? of(BOX);
    const blocks = Math.ceil(n / BM) * Math.ceil(m / BN) * config.CLUSTER;
    // Fewer blocks leave more shared memory to each.
    if (blocks > (RESIDENT - 1) * info.units) yield config;
  }
}

/** Clocks of a µs, with which products are compared with copies. */
const CLOCKS = 1755;

/**
 * A rough time in µs, of use to order configs: fitted to 479 configs of 17 shapes of M = 128 to 1024
 * on an H100 and, for M up to 64, to the order of the fit before, to 255 configs on an H200
 * (`docs/notes/2026-11-28-columns-many-rows.md`). No constant is by itself a time that was measured.
 */
function predict(
  point: MatmulPoint,
  config: RingConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k, type } = point;
  const { BM, BN, BK, CLUSTER, RESIDENT } = config;
  const { tilesN, tilesM, steps } = cutOf(point, config);
  const bytes = BYTES[type] * BK;
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(blocks / units);
  const waves = Math.ceil(beside / RESIDENT);
  const products = productRows(config) / PRODUCT;
  const stages = stagesOf(point, config, needsOf(point, config));
  // From memory, from the cache, the trips in which stages are filled again, and the products.
  const loop = [
    (m + n) * k * BYTES[type] / 3.95e6,
    blocks * (BM + BN) * steps * bytes / 18e6,
    1.47 * Math.max(0, steps / stages - 1),
    steps *
    (BK / 16 * beside * products * (0.415 * BN + 8) / CLOCKS + 0.009),
  ];
  const sums = PRODUCT * BN * BYTES.f32 * (CLUSTER - 1) / CLUSTER;
  return 7.33 +
    loop.reduce((sum, time) => sum + time ** 3.92, 0) ** (1 / 3.92) +
    2.18e-6 * (BM + BN) * bytes - 0.325 * (beside - 1) +
    3.5 * (waves - 1) -
    0.0026 * Math.max(0, units - blocks) +
    (CLUSTER > 1 ? 0.6 + sums * (products * beside) ** 1.27 / 28.2e3 : 0);
}

/** See {@linkcode RingConfig}. */
export const columnsK: Kernel<MatmulPoint> = launched<MatmulPoint, RingConfig>(
  matmul,
  {
    name: "columns-k",
    backend: "cuda",
    idea: "the columns of C are wgmma's M, its rows N: no padding for few rows",
    unsupported(point, info) {
      const large = tooLarge(point) ?? noWgmma(info);
      if (large) return large;
      if (point.type === "f32") return "wgmma has no products of IEEE fp32";
      return [point.k, point.lda, point.ldb].every((length) => length % 8 === 0)
        ? undefined
        : "it reads rows by 16 bytes: K, lda and ldb must be multiples of 8";
    },
    configs,
    rules: columnsRules,
    predict,
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./columns.cu", import.meta.url),
      defines: {
        TYPE: point.type,
        ...ringDefines(point, config, needsOf(point, config)),
        BM: productRows(config),
        ROWS: config.BM,
        ...(point.layout === "nn" ? { LAYOUT: point.layout } : {}),
      },
    }),
    launch(site) {
      const { point, config, operands: { A, B, bias, C }, device } = site;
      const { m, n, k, lda, ldb, ldc, type } = point;
      const { BM, BN, BK } = config;
      const { slice } = cutOf(point, config);
      if (!isWhole(site, slice)) {
        throw new Error("Operands of columns-k do not start on 16 bytes");
      }
      const box = { type, columns: k, boxColumns: BOX };
      const weights = point.layout === "nt"
        ? { ...box, rows: n, ld: ldb, boxRows: BM }
        : { ...box, columns: n, rows: k, ld: ldb, boxRows: BK };
      return {
        args: [
          tensorMapOn(device, B!, weights),
          tensorMapOn(device, A!, { ...box, rows: m, ld: lda, boxRows: BN }),
          ...[bias, C, m, n, k, slice, ldc, hasRelu(point), EARLY],
        ],
        shape: ringShape(point, config, needsOf(point, config)),
      };
    },
  },
);

/**
 * Multiplies by wgmma with outputs of a row of A as the 64 rows of a product, and rows of A as its
 * columns; or, of many rows of A, the other way round.
 *
 * @module
 */

import {
  type DeviceInfo,
  tensorMapOn,
} from "../../../../bench/device/device.ts";
import { EARLY } from "../../../../bench/device/queue.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { grid, type Values } from "../../../../bench/model/grid.ts";
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
  type Sizes,
  someEach,
  stagesOf,
} from "../../../common/wgmma_ring.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import { clustersAtOnce } from "../cluster/configs.ts";

/** The tunables. */
type ColumnsConfig = RingConfig & {
  /**
   * 1: BM divides the rows of A, and BN the outputs of a row. Missing: BM divides the outputs of a row of
   * A, and BN its rows.
   */
  readonly TOKEN_ROWS?: 1;
};

/** Elements of a line of a box: 128 bytes. */
const BOX = 64;

/**
 * The sizes as a {@linkcode RingConfig} counts them: `n` is what BM divides, and `m` what BN does, so that
 * the two are exchanged with `TOKEN_ROWS`.
 */
function sidesOf(
  { m, n, k }: Sizes,
  { TOKEN_ROWS }: Pick<ColumnsConfig, "TOKEN_ROWS">,
): Sizes {
  return TOKEN_ROWS ? { m: n, n: m, k } : { m, n, k };
}

/** Rows of the products that a tile takes of which `BM` are its own. */
function productRows({ BM }: Pick<RingConfig, "BM">): number {
  return Math.ceil(BM / PRODUCT) * PRODUCT;
}

/** Columns of the products of a warp. */
function columnsOf({ BM, BN, WARPS }: RingConfig): number {
  return productRows({ BM }) * BN / 16 / WARPS;
}

/** Slots of a thread: eights of the columns that its warp multiplies. */
function slotsOf(config: RingConfig): number {
  return columnsOf(config) / 8;
}

/** Whether each block of a cluster has whole slots. */
function bySlot(config: RingConfig): boolean {
  return haveWholeSlots(slotsOf(config), config.CLUSTER);
}

/** Whether boxes are whole: of a B that is stored by rows they are 64 columns wide. */
function hasWholeBoxes({ layout }: MatmulPoint, outputs: number): boolean {
  return layout === "nt" || outputs % BOX === 0;
}

/** Whether wgmma has products of a B by rows with so many columns (`ptx_mma_mn.h`). */
function hasByRows({ layout }: MatmulPoint, columns: number): boolean {
  return layout === "nt" || [16, 32, 64, 128, 192, 256].includes(columns);
}

/** Whether what products read behind the rows of a tile is of the same step. */
function isBehind({ BM, BN, BK }: RingConfig): boolean {
  return productRows({ BM }) - BM <= BN * BK / BOX;
}

function needsOf(_: MatmulPoint, config: ColumnsConfig): RingNeeds {
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

/** The K steps of the ring. */
function stages(point: MatmulPoint, config: ColumnsConfig): number {
  return stagesOf(sidesOf(point, config), config, needsOf(point, config));
}

/** The macros of `columns.cu`. */
function definesOf(point: MatmulPoint, config: ColumnsConfig): Values {
  return ringDefines(sidesOf(point, config), config, needsOf(point, config));
}

/** The rules of a config, by name. */
export const columnsRules = {
  tile(point, config) {
    const { BM, BN, BK, WARPS, TOKEN_ROWS } = config;
    const slots = slotsOf(config);
    if (TOKEN_ROWS && BM % PRODUCT !== 0) {
      return `${BM} rows of A are no whole products`;
    }
    if (
      BM % 8 !== 0 || BM > 256 || BK % BOX !== 0 || WARPS % 4 !== 0 ||
      WARPS * 16 < productRows(config) || BN > 256 || slots < 1 ||
      slots % 1 !== 0 || slots > 32
    ) return `${WARPS} warps have no whole products of ${BM} x ${BN}`;
    // Such a product is split in two (`PARTS` of columns.cu).
    const { REGISTERS } = definesOf(point, config);
    return REGISTERS !== undefined && slots % 2 === 1 &&
        columnsOf(config) > (Number(REGISTERS) >= 128 ? 192 : 128)
      ? `${slots} slots are not split in two`
      : undefined;
  },
  boxes: (point, config) => {
    const { BM, BN, TOKEN_ROWS } = config;
    const outputs = TOKEN_ROWS ? BN : BM;
    if (!hasWholeBoxes(point, outputs)) {
      return `${outputs} columns of B are no whole boxes of ${BOX}`;
    }
    return !TOKEN_ROWS || hasByRows(point, columnsOf(config))
      ? undefined
      : `wgmma has no products of ${columnsOf(config)} columns of B by rows`;
  },
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
    const { BM, BN, BK, CLUSTER, TOKEN_ROWS } = config;
    const [lines, length] = TOKEN_ROWS ? [BM, BN] : [BN, BM];
    const steps = stages(point, config);
    const room = steps * (BM + BN) * BK * BYTES.bf16;
    return !TOKEN_ROWS && CLUSTER > 1 ||
        lines * (length * BYTES.bf16 + 16) <= room
      ? undefined
      : `${BM} x ${BN} outputs have no room in ${steps} steps of BK=${BK}`;
  },
  ...ringRules(needsOf, sidesOf),
} satisfies Record<string, Rule<MatmulPoint, ColumnsConfig>>;

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

/** The longest step of which enough are under way: a step costs a wait, however long it is. */
function withStep<C extends ColumnsConfig>(
  point: MatmulPoint,
  of: (BK: number) => C,
): C {
  const enough = (config: C) => {
    const { steps } = cutOf(sidesOf(point, config), config);
    return isBehind(config) &&
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
    const WARPS = productRows({ BM }) / 16;
    const config = withStep(point, (BK) => {
      const one = { BM, BN, BK, WARPS, CLUSTER: 1, RESIDENT };
      return { ...one, CLUSTER: clusterOf(point, one, info) };
    });
    const blocks = Math.ceil(n / BM) * Math.ceil(m / BN) * config.CLUSTER;
    // Fewer blocks leave more shared memory to each.
    if (blocks > (RESIDENT - 1) * info.units) yield config;
  }
}

/** Waves of blocks, or blocks that share a multiprocessor, and slices of K. */
const FILLS = [[1, 1], [2, 1], [3, 1], [1, 2], [1, 3], [1, 4]] as const;

/** Yields tiles of rows of A as rows of products, as wide as makes the blocks whole waves. */
function* rowsConfigs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<ColumnsConfig> {
  const { m, n, k, layout } = point;
  const whole = layout === "nn" ? BOX : 8;
  for (const BM of [64, 128, 192, 256]) {
    const tilesM = Math.ceil(m / BM);
    // Copies are slow to fill rows with zeros that A lacks.
    if (tilesM * BM - m > m / 8) continue;
    const seen = new Set<string>();
    for (const [waves, CLUSTER] of FILLS) {
      // With slices, tiles of 64 rows were the slowest.
      if (BM === PRODUCT && CLUSTER > 1) continue;
      const tilesN = Math.floor(waves * clustersAtOnce(info, CLUSTER) / tilesM);
      if (tilesN < 1) continue;
      const BN = Math.max(16, Math.ceil(n / tilesN / whole) * whole);
      if (BN > 256 || seen.has(`${BN} ${CLUSTER}`)) continue;
      seen.add(`${BN} ${CLUSTER}`);
      const WARPS = BM / 16;
      for (const RESIDENT of waves === 2 ? [2, 1] : [1]) {
        const config = withStep(
          point,
          (BK) => ({ TOKEN_ROWS: 1, BM, BN, BK, WARPS, CLUSTER, RESIDENT }),
        );
        if (!someEach(k, CLUSTER, config.BK)) yield config;
      }
    }
  }
}

/** Yields the configs of both kinds; those of rows of A from whole products of them on. */
function* configs(
  point: MatmulPoint,
  info: DeviceInfo,
): Generator<ColumnsConfig> {
  yield* columnsConfigs(point, info);
  if (point.m > PRODUCT) yield* rowsConfigs(point, info);
}

/** Clocks of a µs, with which products are compared with copies. */
const CLOCKS = 1755;

/** Constants of {@linkcode predict}. None is by itself a time or a rate that was measured. */
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
  /** Of a cluster, of each value of K that its blocks have, and sums' bytes per µs and their power. */
  readonly cluster: number;
  readonly slice: number;
  readonly sums: number;
  readonly sumsPower: number;
}

/**
 * With fewer than 64 rows of A: to the order of 255 configs on an H200
 * (`docs/notes/2026-11-28-columns-many-rows.md`).
 */
const FEW: Fit = {
  ...{ start: 7.33, first: 2.18e-6, memory: 3.95e6, cache: 18e6, trip: 1.47 },
  ...{ column: 0.415, product: 8, power: 3.92, beside: -0.325, wave: 3.5 },
  ...{ cluster: 0.6, slice: 0, sums: 28.2e3, sumsPower: 1.27 },
};
/** With 64 to 512: to 3100 configs of 74 shapes on three H200 (`docs/notes/2026-11-29-rows-of-a.md`). */
const MANY: Fit = {
  ...{ start: 6.59, first: 8.2e-6, memory: 3.94e6, cache: 19.85e6, trip: 1.35 },
  ...{ column: 0.51, product: 3.16, power: 4.61, beside: -0.022, wave: 2.16 },
  ...{ cluster: -0.27, slice: 0.19e-3, sums: 23.4e3, sumsPower: 1.36 },
};

/** A rough time in µs, of use to order configs. */
function predict(
  point: MatmulPoint,
  config: ColumnsConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k, type } = point;
  const { BM, BN, BK, CLUSTER, RESIDENT, TOKEN_ROWS } = config;
  const fit = m < PRODUCT ? FEW : MANY;
  const { tilesN, tilesM, steps } = cutOf(sidesOf(point, config), config);
  const bytes = BYTES[type] * BK;
  const blocks = tilesN * tilesM * CLUSTER;
  const beside = Math.ceil(blocks / units);
  const waves = Math.ceil(beside / RESIDENT);
  const products = productRows(config) / PRODUCT;
  // Clusters that read the same weights are at different steps: more than two read some of them twice.
  const sharers = TOKEN_ROWS ? tilesN : tilesM;
  const again = CLUSTER > 1 ? 1 + 0.25 * Math.max(0, sharers - 2) : 1;
  const clocks = BK / 16 * products * (fit.column * BN + fit.product);
  // From memory, from the cache, the trips in which stages are filled again, and the products.
  const loop = [
    (m + n) * k * BYTES[type] / fit.memory,
    blocks * (BM + BN) * steps * bytes * again / fit.cache,
    fit.trip * Math.max(0, steps / stages(point, config) - 1),
    steps * (beside * clocks / CLOCKS + 0.009),
  ];
  const sums = PRODUCT * BN * BYTES.f32 * (CLUSTER - 1) / CLUSTER;
  return fit.start + fit.first * (BM + BN) * bytes +
    loop.reduce((sum, time) => sum + time ** fit.power, 0) ** (1 / fit.power) +
    fit.beside * (beside - 1) + fit.wave * (waves - 1) -
    0.0026 * Math.max(0, units - blocks) +
    (CLUSTER > 1
      ? fit.cluster + fit.slice * steps * BK +
        sums * (products * beside) ** fit.sumsPower / fit.sums
      : 0);
}

/** See {@linkcode ColumnsConfig}. */
export const columnsK: Kernel<MatmulPoint> = launched<
  MatmulPoint,
  ColumnsConfig
>(
  matmul,
  {
    name: "columns-k",
    backend: "cuda",
    idea:
      "few rows of C are wgmma's N, unpadded; many its M, in tiles as wide as fills the device",
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
        ...definesOf(point, config),
        BM: productRows(config),
        ROWS: config.BM,
        ...(point.layout === "nn" ? { LAYOUT: point.layout } : {}),
      },
    }),
    launch(site) {
      const { point, config, operands: { A, B, bias, C }, device } = site;
      const { m, n, k, lda, ldb, ldc, type } = point;
      const { BM, BN, BK, TOKEN_ROWS } = config;
      const sides = sidesOf(point, config);
      const { slice } = cutOf(sides, config);
      const [ofA, ofB] = TOKEN_ROWS ? [BM, BN] : [BN, BM];
      if (!isWhole(site, slice)) {
        throw new Error("Operands of columns-k do not start on 16 bytes");
      }
      const box = { type, columns: k, boxColumns: BOX };
      const weights = point.layout === "nt"
        ? { ...box, rows: n, ld: ldb, boxRows: ofB }
        : { ...box, columns: n, rows: k, ld: ldb, boxRows: BK };
      const shape = ringShape(sides, config, needsOf(point, config));
      const [x, y, z] = shape.grid;
      return {
        args: [
          tensorMapOn(device, B!, weights),
          tensorMapOn(device, A!, { ...box, rows: m, ld: lda, boxRows: ofA }),
          ...[bias, C, m, n, k, slice, ldc, hasRelu(point), EARLY],
        ],
        // Tiles of A come first.
        shape: TOKEN_ROWS ? { ...shape, grid: [x, z, y] } : shape,
      };
    },
  },
);

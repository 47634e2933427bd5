/**
 * The kernel for a device whose tensor cores take NVFP4 as it is stored: tcgen05.
 *
 * Compiled and never run: no such device was at hand.
 *
 * @module
 */

import {
  type Device,
  type DeviceInfo,
  tensorMapOn,
} from "../../../../bench/device/device.ts";
import { grid, type Values } from "../../../../bench/model/grid.ts";
import { defineKernel, type Rules } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import type { Operands } from "../../../../bench/model/problem.ts";
import type { Build } from "../../../../bench/device/device.ts";
import { launch, structs, uploaded } from "../../../common/launch.ts";
import { groupedMatmul } from "../../op.ts";
import {
  type GroupedPoint,
  realProblems,
  type Sizes,
  uploadedTable,
  wholeSlabs,
} from "../../point.ts";
import { evenParts, type Tile, tilesOf } from "../schedule.ts";

/** What is chosen: macros of blackwell.cu but for `EACH`. */
export type BlackwellConfig = Values & {
  /** Tokens of a tile at most: a multiple of 64, 256 at most. */
  readonly MAXN: number;
  /** Threads that copy by tensor maps; 0: all lanes of four warps copy. */
  readonly TMA: number;
  /** Blocks whose products are made together. */
  readonly PAIR: number;
  /** Blocks with a tile each, of the same tokens, which are copied once. */
  readonly SHARE: number;
  /** Bytes of a store of sums. */
  readonly STORE: number;
  /** 1: blocks, or clusters, take tiles from a counter; 0: the hardware deals them out. */
  readonly COUNTER: number;
  /** Steps of K in flight; 0: as many as there is room for. */
  readonly STAGES: number;
  /** 1: a launch for each problem. */
  readonly EACH: number;
};

/** Bytes of shared memory of a multiprocessor of sm_100, and what each of its blocks costs. */
const [SHARED, RESERVED] = [233472, 1024];
/** Bytes of shared memory that a block may have. */
const BLOCK_SHARED = 232448;
/** Tiles start at multiples: two columns of scales, less is refused by the hardware. */
const STEP = 64;
/** Columns of a product are a multiple. */
const COLUMNS = 16;
/** Rows of weights of a tile. */
const ROWS = 128;
/** Bytes of a row of a step, and of the scales of 128 rows and a step. */
const [LINE, SCALES] = [128, 2048];
/** Two barriers a stage; one more, and an address. */
const [STAGE_BARRIERS, REST] = [16, 16];

function stageBytes({ MAXN, PAIR }: BlackwellConfig): number {
  return (ROWS + MAXN / PAIR) * LINE + SCALES * (1 + Math.ceil(MAXN / 128));
}

/** Blocks that share a multiprocessor: two where their tensor memory has room. */
export function blocksOf({ MAXN }: BlackwellConfig): number {
  return MAXN <= 128 ? 2 : 1;
}

/** Steps of K that shared memory has room for. */
function roomOf(config: BlackwellConfig): number {
  const blocks = blocksOf(config);
  const room = Math.min(BLOCK_SHARED, SHARED / blocks - RESERVED) - REST;
  const stages = Math.floor(room / (stageBytes(config) + STAGE_BARRIERS));
  return Math.min(
    stages,
    Math.floor(columnsLeft(config) / stageColumns(config)),
  );
}

/** Columns of tensor memory that a block has beside its sums, and those of a stage's scales. */
function columnsLeft(config: BlackwellConfig): number {
  return 512 / blocksOf(config) - config.MAXN;
}
function stageColumns({ MAXN }: BlackwellConfig): number {
  return 16 * (1 + Math.ceil(MAXN / 128));
}

/** Steps of K in flight. */
export function stagesOf(config: BlackwellConfig): number {
  return config.STAGES || roomOf(config);
}

/** Bytes of shared memory of a block: `shared_bytes` of encoders.h. */
export function sharedBytes(config: BlackwellConfig): number {
  return stagesOf(config) * (stageBytes(config) + STAGE_BARRIERS) + REST;
}

/** All tiles, heaviest first, with columns of products: `Item` of blackwell.cu. */
export function itemsOf(
  problems: readonly Sizes[],
  { MAXN, PAIR, SHARE }: BlackwellConfig,
): Tile[] {
  const step = COLUMNS * PAIR;
  return tilesOf(problems, {
    rows: ROWS * PAIR * SHARE,
    partsOf: (problem) => evenParts(problems[problem]!.m, { MAXN, STEP }),
    clocksOf: (cols, k) => tileClocks(cols, k, PAIR * SHARE),
  }).map((tile) => ({
    ...tile,
    cols: Math.min(
      tile.cols,
      Math.ceil((problems[tile.problem]!.m - tile.token) / step) * step,
    ),
  }));
}

/** The rules of a config, by name. */
const rules: Rules<GroupedPoint, BlackwellConfig> = {
  tokens(point, { MAXN }) {
    const most = Math.max(...realProblems(point).map(({ m }) => m));
    return MAXN - STEP < most
      ? undefined
      : `no problem has more than ${MAXN - STEP} tokens`;
  },
  maps: (_, { TMA }, { tensorMaps }) =>
    TMA === 0 || tensorMaps
      ? undefined
      : "the device, or its driver, has no tensor maps",
  pair: (_, { TMA, PAIR }, { clusters }) =>
    PAIR === 1 || (TMA > 0 && clusters?.[PAIR - 1] !== 0)
      ? undefined
      : TMA === 0
      ? `PAIR=${PAIR}: copies by lanes cannot tell the other block's barrier`
      : `no cluster of ${PAIR} blocks fits on the device`,
  share: (_, { TMA, SHARE }, { clusters }) =>
    SHARE === 1 || (TMA > 0 && clusters?.[SHARE - 1] !== 0)
      ? undefined
      : TMA === 0
      ? `SHARE=${SHARE}: lanes copy to their own block alone`
      : `no cluster of ${SHARE} blocks fits on the device`,
  rows(point, { PAIR, SHARE }) {
    const most = Math.max(...realProblems(point).map(({ n }) => n));
    const blocks = PAIR * SHARE;
    return blocks === 1 || most > ROWS * (blocks - 1)
      ? undefined
      : `${blocks} blocks of ${ROWS} rows of B, no problem has more than ${most}`;
  },
  store: (point, { STORE }) =>
    STORE === 16 ||
      (point.layout !== "nt" &&
        realProblems(point).some(({ m }) => m % (STORE / 2) === 0))
      ? undefined
      : `STORE=${STORE}: no C has ${
        STORE / 2
      } tokens side by side, as nt-mmajor has where M is a multiple of it`,
  stages: (_, config) =>
    config.STAGES <= roomOf(config)
      ? undefined
      : `STAGES=${config.STAGES}: there is room for ${roomOf(config)}`,
};

/**
 * Guesses from data sheets, never measured: clocks a column of a product, bytes a clock that
 * a multiprocessor gets, clocks of a tile besides, and MHz.
 */
const [COLUMN, BYTES, TILE, MHZ] = [0.5, 40, 4000, 1800];

/** Clocks of a tile but for those that it always takes. */
function tileClocks(cols: number, k: number, share: number): number {
  return k / 64 * Math.max(COLUMN * cols, (ROWS + cols / share) * 36 / BYTES);
}

/** A rough time in µs, of use to order configs. */
function predict(
  point: GroupedPoint,
  config: BlackwellConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { PAIR, SHARE, TMA, STORE, EACH } = config;
  const problems = realProblems(point);
  // Threads that copy and narrow stores cost a tile about as much as its start does.
  const tile = TILE * (1 + (TMA === 0 ? 1 : 0.1 / TMA) + 4 / STORE) +
    TILE / stagesOf(config);
  const clocks = itemsOf(problems, config).reduce(
    (sum, { problem, cols }) =>
      sum +
      PAIR * SHARE * (tileClocks(cols, problems[problem]!.k, PAIR * SHARE) +
          tile / blocksOf(config)),
    0,
  );
  return 3 * (EACH ? problems.length : 1) + clocks / units / MHZ;
}

/** Returns why a device has no such products. */
function noTcgen05({ arch }: DeviceInfo): string | undefined {
  return arch === "sm_100a" || arch === "sm_103a"
    ? undefined
    : `${arch} has no tcgen05: sm_100a and sm_103a have, for which this is compiled and was never run`;
}

/** `Item` of blackwell.cu. */
export function itemTable(items: readonly Tile[]): Uint8Array<ArrayBuffer> {
  return structs(
    items.map(({ problem, row, token, cols }) => [problem, row, token, cols]),
  );
}

/**
 * Tensor maps of each problem: weights and tokens, in boxes of 256 elements of K, then their scales,
 * a row of which has those of 128 rows and 64 elements.
 */
function mapTable(
  { point, operands, device, config }: {
    readonly point: GroupedPoint;
    readonly operands: Operands;
    readonly device: Device;
    readonly config: BlackwellConfig;
  },
): Uint8Array<ArrayBuffer> {
  const { MAXN, PAIR } = config;
  const maps = realProblems(point).flatMap(({ m, n, k, group }) => {
    const codes = { type: "e2m1x2", columns: k / 2, ld: k / 2 } as const;
    const scales = (rows: number) => ({
      type: "u32" as const,
      dims: [128, Math.ceil(rows / 128) * k / 64],
      strides: [512],
      box: [128, 4],
    });
    const row = { ...codes, boxColumns: LINE };
    return [
      tensorMapOn(device, operands[`B${group}`]!, {
        ...row,
        rows: n,
        boxRows: ROWS,
      }),
      tensorMapOn(device, operands[`A${group}`]!, {
        ...row,
        rows: m,
        boxRows: MAXN / PAIR,
      }),
      tensorMapOn(device, operands[`SFB${group}`]!, scales(n)),
      tensorMapOn(device, operands[`SFA${group}`]!, scales(m)),
    ];
  });
  const table = new Uint8Array(maps.length * 128);
  maps.forEach((map, i) => {
    if (map.kind === "bytes") table.set(map.bytes, i * 128);
  });
  return table;
}

function build(config: BlackwellConfig): Build {
  const { EACH: _, ...macros } = config;
  return {
    source: new URL("./blackwell.cu", import.meta.url),
    defines: { ...macros, STAGES: stagesOf(config) },
  };
}

/** Codes and scales as stored; weights are rows, tokens columns, sums in tensor memory. */
export const blackwell: Kernel<GroupedPoint> = defineKernel<
  GroupedPoint,
  BlackwellConfig
>(groupedMatmul, {
  name: "blackwell",
  backend: "cuda",
  idea:
    "nothing decoded: FP4 tensor cores (tcgen05), sums in tensor memory; compiled, never run",
  unsupported: (point, info) => noTcgen05(info) ?? wholeSlabs(point),
  configs: () =>
    [...grid({
      MAXN: [128, 256, 192, 64],
      TMA: [2, 1, 0],
      PAIR: [2, 1],
      SHARE: [1, 2, 4],
      STORE: [32, 16],
      COUNTER: [0, 1],
      STAGES: [0, 4, 2],
      EACH: [0, 1],
    })].filter(({ TMA, PAIR, SHARE, STORE, COUNTER, STAGES, EACH }) =>
      // The steps of the competition's entry; see README.md.
      (STAGES === 0 && !EACH &&
        (SHARE === 1 || (PAIR === 1 && TMA === 2)) &&
        (!COUNTER || TMA > 0)) ||
      (TMA === 1 && PAIR * SHARE === 1 && STORE === 16 && STAGES > 0 &&
        (STAGES === 2 ? !COUNTER : !EACH))
    ),
  rules,
  predict,
  builds: (_, config) => [build(config)],
  prepare(site) {
    const { point, config } = site;
    const { PAIR, SHARE, TMA, COUNTER, EACH } = config;
    const problems = realProblems(point);
    const items = itemsOf(problems, config);
    const table = uploadedTable(site);
    const { units } = site.device.info;
    const counter = COUNTER ? uploaded(site, new Uint8Array(4)) : undefined;
    const cluster = PAIR * SHARE;
    const clustersFor = (tiles: number) =>
      COUNTER
        ? Math.min(tiles, Math.floor(units * blocksOf(config) / cluster) || 1)
        : tiles;
    const maps = TMA > 0 ? uploaded(site, mapTable(site)) : undefined;
    const parts = EACH
      ? problems.map((_, i) => items.filter(({ problem }) => problem === i))
      : [items];
    return {
      steps: parts.map((part) =>
        launch(site, build(config), {
          args: [
            ...[table, uploaded(site, itemTable(part)), maps],
            ...[point.layout !== "nt", counter, part.length],
          ],
          shape: {
            grid: [cluster * clustersFor(part.length), 1, 1],
            block: [160, 1, 1],
            cluster,
            sharedBytes: sharedBytes(config),
          },
        })
      ),
    };
  },
});

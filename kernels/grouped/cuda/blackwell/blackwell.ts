/**
 * The kernel for a device whose tensor cores take NVFP4 as it is stored: tcgen05.
 *
 * Compiled and never run: no such device was at hand.
 *
 * @module
 */

import type { DeviceInfo } from "../../../../bench/device/device.ts";
import { grid, type Values } from "../../../../bench/model/grid.ts";
import type { Rules } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { launched, structs, uploaded } from "../../../common/launch.ts";
import { groupedMatmul } from "../../op.ts";
import {
  type GroupedPoint,
  realProblems,
  type Sizes,
  uploadedTable,
  wholeSlabs,
} from "../../point.ts";
import { evenParts, type Tile, tilesOf } from "../schedule.ts";

/** The macro of blackwell.cu that is chosen. */
type BlackwellConfig = Values & {
  /** Tokens of a tile at most: a multiple of 64, 256 at most. */
  readonly MAXN: number;
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

function stageBytes({ MAXN }: BlackwellConfig): number {
  return (ROWS + MAXN) * LINE + SCALES * (1 + Math.ceil(MAXN / 128));
}

/** Blocks that share a multiprocessor: two where their tensor memory has room. */
export function blocksOf({ MAXN }: BlackwellConfig): number {
  return MAXN <= 128 ? 2 : 1;
}

/** Steps of K in flight: as many as shared memory has room for. */
export function stagesOf(config: BlackwellConfig): number {
  const blocks = blocksOf(config);
  const room = Math.min(BLOCK_SHARED, SHARED / blocks - RESERVED) - REST;
  return Math.floor(room / (stageBytes(config) + STAGE_BARRIERS));
}

/** Bytes of shared memory of a block: `shared_bytes` of encoders.h. */
export function sharedBytes(config: BlackwellConfig): number {
  return stagesOf(config) * (stageBytes(config) + STAGE_BARRIERS) + REST;
}

/** All tiles, heaviest first, with columns of products: `Item` of blackwell.cu. */
export function itemsOf(
  problems: readonly Sizes[],
  { MAXN }: BlackwellConfig,
): Tile[] {
  return tilesOf(problems, {
    rows: ROWS,
    partsOf: (problem) => evenParts(problems[problem]!.m, { MAXN, STEP }),
    clocksOf: tileClocks,
  }).map((tile) => ({
    ...tile,
    cols: Math.min(
      tile.cols,
      Math.ceil((problems[tile.problem]!.m - tile.token) / COLUMNS) * COLUMNS,
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
};

/**
 * Guesses from data sheets, never measured: clocks a column of a product, bytes a clock that
 * a multiprocessor gets, clocks of a tile besides, and MHz.
 */
const [COLUMN, BYTES, TILE, MHZ] = [0.5, 40, 4000, 1800];

/** Clocks of a tile but for those that it always takes. */
function tileClocks(cols: number, k: number): number {
  return k / 64 * Math.max(COLUMN * cols, (ROWS + cols) * 36 / BYTES);
}

/** A rough time in µs, of use to order configs. */
function predict(
  point: GroupedPoint,
  config: BlackwellConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const problems = realProblems(point);
  const clocks = itemsOf(problems, config).reduce(
    (sum, { problem, cols }) =>
      sum + tileClocks(cols, problems[problem]!.k) + TILE / blocksOf(config),
    0,
  );
  return 3 + clocks / units / MHZ;
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

/** Codes and scales as stored; weights are rows, tokens columns, sums in tensor memory. */
export const blackwell: Kernel<GroupedPoint> = launched<
  GroupedPoint,
  BlackwellConfig
>(groupedMatmul, {
  name: "blackwell",
  backend: "cuda",
  idea:
    "nothing decoded: FP4 tensor cores (tcgen05), sums in tensor memory; compiled, never run",
  unsupported: (point, info) => noTcgen05(info) ?? wholeSlabs(point),
  configs: () => grid({ MAXN: [128, 256, 192, 64] }),
  rules,
  predict,
  build: (_, config) => ({
    source: new URL("./blackwell.cu", import.meta.url),
    defines: { ...config, STAGES: stagesOf(config) },
  }),
  launch(site) {
    const { point, config } = site;
    const items = itemsOf(realProblems(point), config);
    const table = uploaded(site, itemTable(items));
    return {
      args: [uploadedTable(site), table, point.layout !== "nt"],
      shape: {
        grid: [items.length, 1, 1],
        block: [160, 1, 1],
        sharedBytes: sharedBytes(config),
      },
    };
  },
});

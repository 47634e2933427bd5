/**
 * The tile, the part of K and the shared memory of a block of wgmma.cu.
 *
 * @module
 */

import { isChannel } from "../../../bench/formats/quant_format.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { BLOCK_SHARED_BYTES } from "../../common/sm90.ts";
import { blockOf, type QmmPoint } from "../point.ts";

/** The tunables of wgmma.cu. */
export type WgmmaConfig = Values & {
  /** Tokens of a tile. */
  readonly BM: number;
  /** Rows of weights of a tile, or columns: 64 for each warpgroup of a set. */
  readonly ROWS: number;
  /** Sets of warpgroups, each with a part of K. */
  readonly SETS: number;
  /** Spans of 256 of K that a warp has room for, or of 128 of x · W that a set has. */
  readonly PLACES: number;
  /** Blocks of a cluster, each with a part of K. */
  readonly CLUSTER: number;
};

/** Elements of K in a step. */
export const STEP = 64;
/** Elements of K in a span of weights. */
export function spanOf({ transposed }: QmmPoint): number {
  return transposed ? 256 : 128;
}
/** Steps of x beyond which more in flight gain nothing. */
const MOST_STEPS = 16;
/** Stages that the barriers have room for. */
const MOST_STAGES = 8;

/** Bytes of a row's scales that a tensor map of x · W brings. */
export const CHUNK = 16;

/** Bits of a code of x · W where it is read: codes across words are unpacked before. */
export function widthOf({ bits }: QmmPoint): number {
  return [2, 4, 8].find((width) => width >= bits)!;
}

/** Bytes of a row of a tile's codes of x · W, as they are copied. */
export function copiedRow({ bits }: QmmPoint, { ROWS }: WgmmaConfig): number {
  return Math.ceil(ROWS * bits / 8 / CHUNK) * CHUNK;
}

/** Bytes of a scale. */
export function scaleBytes({ mode }: QmmPoint): number {
  return mode === "affine" ? 2 : 1;
}

/** Parts of K start at multiples of it: at whole groups, whole words of scales and of codes. */
export function unitOf(point: QmmPoint): number {
  if (!point.transposed) return STEP;
  const words = 4 / scaleBytes(point) * blockOf(point).GROUP;
  return Math.max(point.bits % 2 ? 2 * STEP : STEP, words);
}

/**
 * Returns whether copies of weights of x · Wᵀ need no bounds checks: all rows of the tiles exist, no span of a
 * part of K ends behind K, and rows of codes start on 16 bytes and those of scales on 4.
 */
export function isEven(point: QmmPoint, config: WgmmaConfig): boolean {
  const { n, k, bits, group, transposed } = point;
  return transposed && !isChannel(point) && n % config.ROWS === 0 &&
    (k % (spanOf(point) * partsOfK(config)) === 0 ||
      lastOf(point, config) > 0) &&
    k * bits / 8 % 16 === 0 && k / group * scaleBytes(point) % 4 === 0;
}

/** The most tokens of a tile with a table, and threads that multiply. */
const TABLE_TOKENS = 96;
const TABLE_THREADS = 256;
/** Bytes of the table: an entry of 256 for each byte of codes. */
const TABLE_BYTES = 256 * 256;

/**
 * Returns whether pairs of E2M1 codes of x · Wᵀ are looked up in a table. Chosen by measurement: with more
 * tokens two sets lose by it, with more threads NVFP4 does, and MXFP4 is faster with fewer threads
 * (`docs/notes/2026-11-30-looked-up-codes.md`).
 */
export function hasTable(
  { mode, bits, transposed }: QmmPoint,
  config: WgmmaConfig,
): boolean {
  return transposed && mode !== "affine" && bits === 4 &&
    config.BM <= TABLE_TOKENS && threadsOf(config) <= TABLE_THREADS;
}

/** Threads that multiply. */
export function threadsOf({ ROWS, SETS }: WgmmaConfig): number {
  return 2 * ROWS * SETS;
}

/** Tiles along N and along M. */
export function tilesOf(
  { m, n }: QmmPoint,
  { ROWS, BM }: WgmmaConfig,
): readonly [number, number] {
  return [Math.ceil(n / ROWS), Math.ceil(m / BM)];
}

/** Parts of K: of all sets of a cluster's blocks. */
function partsOfK({ SETS, CLUSTER }: WgmmaConfig): number {
  return SETS * CLUSTER;
}

/** Units of K. */
function unitsOf(point: QmmPoint): number {
  return Math.ceil(point.k / unitOf(point));
}

/**
 * Returns the units of the last part of K where parts cannot all be whole spans: the last one is, and spans
 * of the others end behind their part but not behind K. 0 where all parts are whole spans, where the longest
 * part would become longer, where an equal part has less than a span, where K is not whole units, and for
 * x · W.
 */
export function lastOf(point: QmmPoint, config: WgmmaConfig): number {
  const [parts, units] = [partsOfK(config), unitsOf(point)];
  const span = spanOf(point) / unitOf(point);
  const last = Math.floor(units / parts / span) * span;
  const most = Math.ceil((units - last) / (parts - 1));
  return point.transposed && parts > 1 && point.k % unitOf(point) === 0 &&
      units % (span * parts) !== 0 && most <= Math.ceil(units / parts)
    ? last
    : 0;
}

/** Steps of the set that has the most. */
export function stepsOf(point: QmmPoint, config: WgmmaConfig): number {
  const unit = unitOf(point);
  const units = Math.ceil(unitsOf(point) / partsOfK(config));
  return Math.ceil(Math.min(units * unit, point.k) / STEP);
}

/** Bytes of the table, of the rings of weights, of a step of x of all sets, and of mailboxes. */
function partsOf(point: QmmPoint, config: WgmmaConfig) {
  const { BM, ROWS, SETS, PLACES, CLUSTER } = config;
  const { bits, mode } = point;
  const { GROUP: group } = blockOf(point);
  const arrays = mode === "affine" ? 2 : 1;
  const span = spanOf(point);
  const width = widthOf(point);
  // A warp's rows of codes have 16 bytes more, so that eight of them start in different banks; a
  // row of x · W has a chunk of scales, or one.
  const scales = isChannel(point) ? scaleBytes(point) : CHUNK;
  const place = point.transposed
    ? 16 * (span * bits / 8 + 16 + arrays * span / group * scaleBytes(point))
    : span * (copiedRow(point, config) + arrays * scales) +
      // Pairs of rows' scales of each group of columns.
      span / 2 * 4 * arrays * Math.max(1, ROWS / group);
  // What is made of the scales of two steps of a warp's rows, or of four where codes have 4 bits; unpacked
  // codes of two spans.
  const made = !point.transposed
    ? width === bits ? 0 : 2 * span * ROWS * width / 8
    : mode === "affine"
    ? 0
    : (bits === 4 ? 256 : 128) * STEP / group;
  const ring = PLACES * place + made;
  const letters = Math.ceil(BM / 8 / SETS);
  const letter = 16 * threadsOf(config);
  return {
    table: hasTable(point, config) ? TABLE_BYTES : 0,
    // Boxes of codes of x · W start at swizzle atoms.
    weights: point.transposed
      ? threadsOf(config) / 32 * ring
      : SETS * Math.ceil(ring / 1024) * 1024,
    barriers: point.transposed ? 0 : 24 * SETS * PLACES,
    step: SETS * BM * 128,
    sums: (SETS - 1) * letters * letter + BM * (ROWS + 8) * 2,
    mail: CLUSTER > 1
      ? (CLUSTER - 1) * Math.ceil(letters / CLUSTER) * letter + 16
      : 0,
  };
}

/** The stages of x of a set. */
interface Stages {
  readonly stages: number;
  /** Steps of a stage. */
  readonly steps: number;
  /** Whether mailboxes take the place of what was copied, but for their barrier. */
  readonly late: boolean;
}

/**
 * Steps of a stage, of `fit` steps for which there is room. A warp waits once for each stage. With fewer
 * than three stages it waits for longer than it saves.
 */
function stepsOfStage(point: QmmPoint, fit: number): number {
  const most = spanOf(point) / STEP;
  return [4, 2].find((steps) => steps <= most && fit >= 3 * steps) ?? 1;
}

/** Returns the stages of x. */
export function stagesOf(point: QmmPoint, config: WgmmaConfig): Stages {
  const { table, weights, step, mail, barriers } = partsOf(point, config);
  const left = BLOCK_SHARED_BYTES - table - weights - barriers -
    16 * config.SETS * MOST_STAGES;
  const most = Math.min(MOST_STEPS, stepsOf(point, config));
  const beside = Math.floor((left - mail) / step);
  // Waiting for the cluster costs more than a step brings, unless there are few.
  const late = config.CLUSTER > 1 && beside < Math.min(4, most);
  const fit = Math.min(late ? Math.floor((left - 16) / step) : beside, most);
  const steps = stepsOfStage(point, fit);
  return { stages: Math.max(2, Math.floor(fit / steps)), steps, late };
}

/** Bytes of shared memory, as wgmma.cu lays it out. */
export function sharedBytes(point: QmmPoint, config: WgmmaConfig): number {
  const { table, weights, step, sums, mail, barriers } = partsOf(point, config);
  const { stages, steps, late } = stagesOf(point, config);
  const beside = stages * steps * step + weights - (late ? mail - 16 : 0);
  return table + Math.max(beside, sums) + mail + 16 * config.SETS * stages +
    barriers;
}

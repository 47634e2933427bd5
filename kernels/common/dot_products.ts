/**
 * Configs, their rules and a model of their time for the kernels of `dot_products.cuh`, which multiply
 * at most eight rows by fused multiply-adds.
 *
 * With M of a few, weights are all there is to read, and a tensor core's 16 rows are mostly padding.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import type { LaunchShape, Memory } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { grid, type Scalar, type Values } from "../../bench/model/grid.ts";
import type { Rule } from "../../bench/model/kernel.ts";
import { nextPowerOfTwo, noClusters, padding } from "./rules.ts";
import { CLOCKS_PER_US } from "./sm90.ts";

/** A product of M rows and a matrix of weights, of N columns of K. */
export interface DotPoint {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly type: "f32" | "bf16" | "f16";
  readonly layout: "nn" | "nt";
}

/** The tunables of `dot_products.cuh`. */
export type DotConfig = Values & {
  readonly THREADS: number;
  /** Columns of weights of a block. */
  readonly COLS: number;
  /** Chunks of a column, or rows of weights, that a thread asks for at once. */
  readonly UNROLL: number;
  /** Blocks that share K. */
  readonly CLUSTER: number;
};

/** Rows that a thread has registers for. */
const MOST_ROWS = 8;
/** Threads of the smallest block: a shape that has no work for more is left with it. */
const LEAST_THREADS = 128;
/** Registers of a multiprocessor, and of a thread but for a few. */
const REGISTERS = { unit: 65536, thread: 236 };

/** Chunks of 16 bytes that a thread of the fastest configs asks for at once. */
const CHUNKS = 4;

/** The work of a block and of a thread at a config. */
interface Work {
  /** Groups of columns. */
  readonly groups: number;
  /** 16-byte chunks of weights that a thread asks for in one step. */
  readonly chunks: number;
  /** Steps that a thread has. */
  readonly steps: number;
  /** Steps that a block has, and how many of them its threads take at once. */
  readonly share: number;
  readonly phases: number;
  /** About how many registers a thread needs. */
  readonly registers: number;
}

/** Cuts `point` as `dot_products.cuh` does. */
function workOf(
  { m, n, k, type, layout }: DotPoint,
  { THREADS, COLS, UNROLL, CLUSTER }: DotConfig,
): Work {
  const per = 16 / BYTES[type];
  const nt = layout === "nt";
  const rows = rowsOf(m);
  const share = Math.ceil((nt ? Math.ceil(k / per) : k) / CLUSTER);
  const phases = nt ? THREADS : THREADS * per / COLS;
  const chunks = nt ? COLS : 1;
  return {
    groups: Math.ceil(n / COLS),
    chunks,
    steps: Math.ceil(share / phases),
    share,
    phases,
    registers: registersOf({ rows, chunks, per, nt }, UNROLL),
  };
}

/**
 * About the registers that nvcc 13.0 takes for sm_90a. With layout `nt` fitted to 77 configs without
 * spills, 8 to 13 % off (standard deviation). Of 111 configs whose estimate is at least two thirds of
 * what a thread may have, none spills where it reads whole chunks.
 */
function registersOf(
  { rows, chunks, per, nt }: {
    readonly rows: number;
    readonly chunks: number;
    readonly per: number;
    readonly nt: boolean;
  },
  unroll: number,
): number {
  if (!nt) return 31 + unroll * 2 * rows + rows * per;
  // 16-bit chunks of rows are also widened, and have addresses of their own.
  return per === 8
    ? 16 + unroll * (5.3 * chunks + 7 * rows) + 1.2 * rows * chunks
    : 22 + unroll * (4.5 * chunks + 3.8 * rows) + 1.4 * rows * chunks;
}

/** Rows that are compiled in. */
function rowsOf(m: number): number {
  return nextPowerOfTwo(m, 1);
}

/** Returns why there are more rows than a thread has registers for. */
export function tooManyRows({ m }: Pick<DotPoint, "m">): string | undefined {
  return m <= MOST_ROWS
    ? undefined
    : `M=${m}: a thread has registers for ${MOST_ROWS} rows of sums`;
}

/**
 * Returns the threads of a block to try: powers of two, and with layout `nt` so many that each has one,
 * two or four chunks of a row of weights. A block of these asks for whole rows at once, and none of its
 * threads is idle. Of configs with the same predicted time the first is tried first.
 */
function threadsOf({ k, type, layout }: DotPoint): readonly number[] {
  const chunks = k * BYTES[type] / 16;
  const whole = [1, 2, 4]
    .map((each) => Math.ceil(chunks / each / 32) * 32)
    .filter((threads) => threads > LEAST_THREADS && threads <= 512);
  return [
    ...new Set([...(layout === "nt" ? whole : []), LEAST_THREADS, 256, 512]),
  ];
}

/** The configs to try, of which {@linkcode dotRules} refuse some. */
export function dotConfigs(point: DotPoint): Iterable<DotConfig> {
  return grid({
    THREADS: threadsOf(point),
    COLS: columnsOf(point),
    UNROLL: [1, 2, 4, 8],
    CLUSTER: [1, 2, 4, 8],
  });
}

/** The rules of a config, by name. */
export const dotRules = {
  warps: (_, { THREADS }) =>
    THREADS % 32 === 0
      ? undefined
      : `sums meet in whole warps, which ${THREADS} threads are not`,
  columns: ({ n, ...point }, { COLS }) =>
    padding("COLS", COLS, Math.max(columnsOf(point)[0]!, nextPowerOfTwo(n, 1))),
  finish({ m }, { THREADS, COLS }) {
    const sums = rowsOf(m) * COLS;
    return sums <= THREADS
      ? undefined
      : `${sums} sums are more than the ${THREADS} threads that finish one each`;
  },
  registers(point, config) {
    const { registers } = workOf(point, config);
    const most = Math.min(REGISTERS.thread, REGISTERS.unit / config.THREADS);
    return registers <= most
      ? undefined
      : `about ${
        Math.ceil(registers)
      } registers a thread are more than ${most}`;
  },
  unroll(point, config) {
    const { steps } = workOf(point, config);
    return config.UNROLL === 1 || config.UNROLL < 2 * steps
      ? undefined
      : `UNROLL=${config.UNROLL} is more than twice the ${steps} steps of a thread`;
  },
  idle(point, config) {
    const { share, phases } = workOf(point, config);
    const least = config.THREADS === LEAST_THREADS && config.CLUSTER === 1;
    return least || 2 * share >= phases
      ? undefined
      : `more than half of the threads would have no part of K=${point.k}`;
  },
  cluster(point, config, info) {
    if (config.CLUSTER === 1) return undefined;
    const reason = noClusters(info);
    if (reason !== undefined) return reason;
    const { groups } = workOf(point, config);
    return groups < 2 * info.units
      ? undefined
      : `${groups} groups of columns fill ${info.units} multiprocessors without clusters`;
  },
} satisfies Record<string, Rule<DotPoint, DotConfig>>;

/**
 * Returns the share by which a config reads weights more slowly than the best does, with layout `nt`:
 * fitted to 394 configs of seven shapes of 59 to 436 MB with one and two rows, on an H100
 * (`docs/notes/2026-11-24-swiglu-dot.md`).
 */
function slownessOf(point: DotPoint, config: DotConfig): number {
  const { THREADS, COLS, UNROLL } = config;
  if (point.layout === "nn") return 0;
  const { share, steps } = workOf(point, config);
  const batches = Math.ceil(steps / UNROLL);
  const idle = batches * Math.min(UNROLL, steps) * THREADS / share - 1;
  const oneRow = point.m === 1;
  return 0.014 * Math.abs(Math.log2(THREADS / (oneRow ? 448 : 320))) +
    (oneRow ? 0.011 : 0.024) * Math.log2(Math.max(1, COLS / 2)) + 0.037 * idle +
    (batches > 1 ? 0.02 : 0) + (!oneRow && UNROLL === 1 ? 0.05 : 0);
}

/**
 * A rough time of a config in µs: weights at the rate that the bytes in flight allow, rows as often
 * as there are groups, the products, and the steps that wait for one another.
 *
 * Small terms order configs that memory limits equally: batches of loads after the first, and chunks
 * that a thread asks for at once. They are fitted to the order of 30 configs of six shapes at M = 1
 * (`docs/notes/2026-11-24-swiglu-dot.md`).
 */
export function predictDot(
  point: DotPoint,
  config: DotConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k, type, layout } = point;
  const { THREADS, UNROLL, CLUSTER } = config;
  const { groups, chunks, registers, steps } = workOf(point, config);
  const blocks = groups * CLUSTER;
  const room = Math.min(
    Math.floor(2048 / THREADS),
    Math.floor(REGISTERS.unit / (THREADS * registers)),
  );
  const busy = Math.min(units, blocks);
  const resident = Math.min(Math.max(1, room), Math.ceil(blocks / units));
  const weights = n * k * BYTES[type];
  const flying = busy * resident * THREADS * 16 * chunks *
    Math.min(UNROLL, steps);
  // Bytes per µs: of memory, of a round trip of 0.75 µs, of a multiprocessor's port.
  const rate = Math.min(4.3e6, flying / 0.75, busy * 112e3);
  const cached = groups * m * k * BYTES[type] / 5.5e6;
  // About four instructions a product, as seen on an H200: both factors are widened.
  const math = 4 * m * n * k / (busy * 128 * CLOCKS_PER_US);
  const waves = Math.ceil(blocks / (units * resident));
  const batches = Math.ceil(steps / UNROLL);
  // Batches of loads but the first are waited for.
  const waits = layout === "nn" ? 0.05 * (batches - 1) : batches > 1 ? 0.5 : 0;
  const kept = chunks * Math.min(UNROLL, steps);
  return 5.15 +
    Math.max(weights / rate, cached, math) +
    Math.max(0, weights / rate - 8) * slownessOf(point, config) +
    0.1 * Math.min(waves, 4) + waits +
    0.02 * Math.max(0, kept - CHUNKS) + (kept < 2 ? 0.5 : 0) +
    (CLUSTER > 1 ? 0.45 : 0);
}

/** Columns of a block: with `nn`, whole 32-byte sectors of a row of weights. */
function columnsOf(
  { type, layout }: Pick<DotPoint, "type" | "layout">,
): readonly number[] {
  return layout === "nt"
    ? [1, 2, 4, 8]
    : [2, 4, 8, 16].map((chunks) => chunks * 16 / BYTES[type]);
}

/** The macros of `dot_products.cuh`, but for `LAYOUT`. */
export function dotDefines(
  { m, type }: Pick<DotPoint, "m" | "type">,
  config: DotConfig,
): Readonly<Record<string, Scalar>> {
  return { TYPE: type, ROWS: rowsOf(m), ...config };
}

/** How the blocks of a config are launched. */
export function dotShape(point: DotPoint, config: DotConfig): LaunchShape {
  const { THREADS, CLUSTER } = config;
  return {
    grid: [workOf(point, config).groups * CLUSTER, 1, 1],
    block: [THREADS, 1, 1],
    ...(CLUSTER > 1 ? { cluster: CLUSTER } : {}),
  };
}

/**
 * Returns whether matrices of `type` are whole 16-byte chunks at such addresses.
 *
 * @param lengths How many elements rows have, and how far apart they are.
 */
export function areChunks(
  matrices: readonly Pick<Memory, "address">[],
  lengths: readonly number[],
  type: DotPoint["type"],
): boolean {
  return matrices.every(({ address }) => address % 16n === 0n) &&
    lengths.every((length) => length * BYTES[type] % 16 === 0);
}

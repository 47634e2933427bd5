/**
 * The CUDA kernels of {@linkcode matmul}, simplest first, and what decompose-K is on CUDA: tiles,
 * rules, launch shapes, and a model of the time.
 *
 * Both lists of tiles are those of MLSys decompose-K (its baseline and its optimised kernels).
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { wavesOf } from "../../../bench/model/occupancy.ts";
import {
  type DecomposeBackend,
  decomposeKernels,
  type Split,
} from "../../common/decompose_k.ts";
import {
  fitsGrid,
  fitsMemory,
  noOverlap,
  tableOf,
  tooOld,
} from "../../common/rules.ts";
import {
  equalSlices,
  fullSteps,
  fullTiles,
  longSlices,
} from "../../common/splits.ts";
import { libraryKernels } from "../library.ts";
import { matmul } from "../op.ts";
import { type MatmulPoint, tooLarge } from "../point.ts";
import { clusterK, exchangeK, wgmmaK } from "./cluster/cluster.ts";
import { columnsK } from "./columns/columns.ts";
import { dot } from "./dot.ts";

/** The compile-time sizes of a product, and the order of its blocks. */
interface OrderedTile {
  /** Rows and columns of the output that a block owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  /** Rows of tiles whose blocks run before those of the next columns. */
  readonly GROUP_M: number;
  readonly WARPS: number;
  /** K steps in flight or in use. */
  readonly STAGES: number;
}

/** A tile and the number of K slices. */
export type TileConfig = Split<OrderedTile>;

const TILE = ["BM", "BN", "BK", "GROUP_M", "WARPS", "STAGES"] as const;
const baselineTiles: readonly OrderedTile[] = tableOf(TILE, [
  [16, 16, 128, 8, 4, 4],
  [16, 32, 128, 8, 4, 4],
  [16, 32, 256, 8, 4, 4],
  [16, 64, 64, 8, 4, 4],
  [32, 16, 128, 8, 4, 4],
  [32, 16, 256, 8, 4, 4],
  [32, 32, 128, 8, 4, 4],
  [16, 128, 64, 8, 4, 4],
  [32, 64, 64, 8, 4, 4],
  [32, 128, 64, 8, 4, 4],
  [32, 128, 128, 8, 4, 4],
  [64, 64, 64, 4, 4, 4],
]);
const optimizedTiles: readonly OrderedTile[] = tableOf(TILE, [
  [16, 16, 32, 8, 1, 4],
  [16, 16, 64, 8, 2, 4],
  [16, 16, 64, 8, 4, 4],
  [16, 16, 64, 8, 1, 5],
  [16, 16, 128, 8, 2, 4],
  [16, 16, 128, 8, 4, 4],
  [16, 16, 128, 8, 1, 4],
  [16, 16, 128, 8, 1, 5],
  [16, 32, 64, 8, 1, 5],
  [16, 32, 128, 8, 1, 4],
  [32, 16, 64, 8, 1, 5],
  [32, 16, 128, 8, 1, 4],
  [32, 32, 64, 8, 2, 4],
  [32, 32, 128, 8, 2, 4],
  [64, 32, 32, 8, 4, 5],
  [64, 32, 64, 8, 4, 5],
  [64, 32, 128, 8, 4, 5],
  [32, 64, 32, 8, 4, 5],
  [32, 64, 64, 8, 4, 5],
  [32, 64, 128, 8, 4, 5],
  [64, 64, 32, 8, 4, 3],
  [64, 64, 32, 8, 4, 4],
  [64, 64, 64, 8, 4, 3],
  [64, 64, 128, 8, 4, 4],
  [64, 64, 128, 8, 4, 5],
  [64, 64, 64, 8, 8, 5],
  [64, 64, 128, 8, 8, 4],
]);

/** Bytes of shared memory that a partial product's ring takes. */
function ringBytes(
  { BM, BN, BK, STAGES }: OrderedTile,
  type: MatmulPoint["type"],
): number {
  return STAGES * (BM + BN) * BK * BYTES[type];
}

/** Blocks of a partial product: rows of a group, columns, groups times slices. */
export function gridOf(
  { m, n }: Pick<MatmulPoint, "m" | "n">,
  { BM, BN, GROUP_M, SPLIT }: TileConfig,
): readonly [number, number, number] {
  const rows = Math.ceil(m / BM);
  const group = Math.min(GROUP_M, rows);
  return [group, Math.ceil(n / BN), Math.ceil(rows / group) * SPLIT];
}

/** The rules of a config, by name. */
export const rules = {
  split: equalSlices,
  slice: longSlices,
  shared: fitsMemory(({ type }, config) => ringBytes(config, type)),
  tile: (point, config) => fullTiles(point, config),
  step: (point, config) => fullSteps(point, config),
  grid: fitsGrid((point, config) => gridOf(point, config).slice(1)),
} satisfies Record<string, Rule<MatmulPoint, TileConfig>>;

/**
 * A rough time of a config in microseconds, of use only to order configs: what each
 * multiprocessor pulls through its port, what all pull from the cache, the partial sums
 * out and in, and the K steps that wait for one another.
 */
export function predict(
  { m, n, k, type }: Pick<MatmulPoint, "m" | "n" | "k" | "type">,
  config: TileConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { BM, BN, BK, SPLIT } = config;
  const blocks = Math.ceil(m / BM) * Math.ceil(n / BN) * SPLIT;
  const steps = Math.ceil(k / SPLIT / BK);
  const block = (BM + BN) * steps * BK * BYTES[type];
  const { waves } = wavesOf(blocks, units);
  const sums = SPLIT * m * n * 4;
  // Bytes per microsecond: 64 a clock and multiprocessor, 5.5 TB/s from the cache.
  return waves * block / 110e3 + (blocks * block + 2 * sums) / 5.5e6 +
    0.05 * steps + 0.1 * waves;
}

/** Threads of the elementwise kernel and of both reducers. */
const THREADS = 128;

/** The sources, launch shapes and limits of the CUDA kernels. */
const cudaDecompose: DecomposeBackend<OrderedTile> = {
  backend: "cuda",
  nullPointers: true,
  tiles: baselineTiles,
  splitTiles: optimizedTiles,
  splitIdea:
    "split-K, slices spread over the threads of a reducer, smaller tiles",
  noOverlap,
  unsupported: (point, info) => tooLarge(point) ?? tooOld(info),
  rules,
  predict,
  sums: new URL("./sums.cu", import.meta.url),
  strided: new URL("./strided.cu", import.meta.url),
  partial(point, config) {
    const { GROUP_M: _, SPLIT, ...tile } = config;
    const { type, layout } = point;
    const grid = gridOf(point, config);
    const isFfma = type === "f32";
    return {
      build: {
        source: new URL("./partial.cu", import.meta.url),
        defines: {
          TYPE: type,
          LAYOUT: layout,
          ...tile,
          ...(isFfma ? { FFMA: 1 } : {}),
        },
      },
      entry: isFfma ? "partial_ffma" : "partial_mma",
      shape: {
        grid,
        block: [32 * config.WARPS, 1, 1],
        sharedBytes: ringBytes(config, type),
      },
      more: [grid[2] / SPLIT],
    };
  },
  sumTile({ m, n }, { BM, BN, WARPS }) {
    const fours = BN / 4;
    const threads = 32 * Math.min(Math.max(WARPS, 1), 4);
    return {
      shape: {
        grid: [Math.ceil(n / BN), Math.ceil(m / BM), 1],
        block: [fours, threads / fours, 1],
      },
      more: [BM],
    };
  },
  spread: { threads: THREADS, columnBytes: 0 },
  epilogue({ m, n, type }) {
    const chunks = Math.ceil(n * BYTES[type] / 16);
    // No wider than a row, so that no thread of a block is idle.
    const x = Math.min(32, 2 ** Math.ceil(Math.log2(chunks)));
    const y = THREADS / x;
    return {
      shape: {
        // The kernel strides over rows beyond what a grid may have.
        grid: [Math.ceil(chunks / x), Math.min(65535, Math.ceil(m / y)), 1],
        block: [x, y, 1],
      },
    };
  },
};

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<MatmulPoint>[] = [
  ...libraryKernels(cudaDecompose, {
    plain: "cublas",
    name: "cublaslt",
    title: "cuBLASLt",
    // As PyTorch gives it on Hopper.
    workspaceBytes: 32 << 20,
    searched: "algorithms and splits",
  }),
  ...decomposeKernels(matmul, cudaDecompose),
  exchangeK,
  clusterK,
  wgmmaK,
  columnsK,
  dot,
];

/**
 * The Metal kernels of {@linkcode matmul}: decompose-K, and one kernel that does not split K; their
 * tiles, rules, launch shapes, and a model of the time.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../../bench/device/device.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import {
  type DecomposeBackend,
  decomposeKernels,
  isWhole,
  type Split,
} from "../../common/decompose_k.ts";
import { launched } from "../../common/launch.ts";
import {
  metalRoom,
  metalThreads,
  type MetalTile,
  metalTilesOf,
} from "../../common/metal_tile.ts";
import { fitsMemory } from "../../common/rules.ts";
import {
  equalSlices,
  fullSteps,
  fullTiles,
  longSlices,
} from "../../common/splits.ts";
import { plainLibrary } from "../library.ts";
import { matmul } from "../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../point.ts";

/** A tile and the number of K slices. */
type MetalConfig = Split<MetalTile>;

/** Tiles for small outputs: the least work a threadgroup first. */
export const metalTiles: readonly MetalTile[] = metalTilesOf([
  // BM, BN, BK, SM, SN.
  [16, 16, 64, 2, 2],
  [16, 16, 32, 1, 2],
  [8, 32, 64, 1, 4],
  [8, 64, 32, 1, 4],
  [16, 32, 32, 2, 2],
  [16, 32, 64, 2, 2],
  [16, 64, 32, 1, 4],
  [32, 16, 64, 2, 2],
  [32, 32, 16, 2, 2],
  [32, 32, 32, 2, 2],
  [32, 32, 64, 2, 2],
  [32, 64, 32, 2, 2],
  [64, 32, 32, 2, 2],
  [64, 64, 16, 2, 2],
  [64, 64, 32, 2, 2],
]);

/** The rules of a config, by name. */
export const metalRules = {
  split: equalSlices,
  slice: longSlices,
  shared: fitsMemory(
    (point, tile) => metalRoom(tile, point),
    "threadgroup memory, a threadgroup",
  ),
  tile: (point, config) => fullTiles(point, config, 32),
  step: (point, config) => fullSteps(point, config, 32),
} satisfies Record<string, Rule<MatmulPoint, MetalConfig>>;

/** Of one core of an M3 Max, a microsecond: bytes from memory, and fp32 flops. */
const CORE = { bytes: 10e3, flops: 0.35e6 };
/** Threads that a core holds so that others' loads are hidden. */
const RESIDENT = 1024;

/**
 * A rough time of a config in microseconds, of use only to order configs: the work of the
 * busiest core, padding included, and the partial sums out and in.
 */
function metalPredict(
  { m, n, k, type }: MatmulPoint,
  config: MetalConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { BM, BN, BK, SPLIT } = config;
  const groups = Math.ceil(m / BM) * Math.ceil(n / BN) * SPLIT;
  const steps = Math.ceil(k / SPLIT / BK);
  const beside = RESIDENT / metalThreads(config);
  const perCore = Math.ceil(groups / units);
  const bytes = (BM + BN) * BK * steps * BYTES[type];
  const flops = 2 * BM * BN * BK * steps;
  const work = perCore * Math.max(bytes / CORE.bytes, flops / CORE.flops);
  // A barrier and a round trip of loads a step, which others hide.
  const waits = 0.6 * steps * Math.ceil(perCore / beside);
  const sums = SPLIT > 1 ? 2 * SPLIT * m * n * 4 / (units * CORE.bytes) : 0;
  return Math.max(work, waits) + sums + (SPLIT > 1 ? 3 : 0);
}

/** Lanes of the elementwise kernel and of both reducers. */
const THREADS = 256;

function buildOf(
  { type, layout }: MatmulPoint,
  { SPLIT: _, ...tile }: MetalConfig,
): Build {
  return {
    source: new URL("./product.metal", import.meta.url),
    defines: { TYPE: type, LAYOUT: layout, ...tile },
  };
}

function shapeOf(point: MatmulPoint, config: MetalConfig) {
  const { BM, BN, SPLIT } = config;
  return {
    grid: [Math.ceil(point.n / BN), Math.ceil(point.m / BM), SPLIT],
    block: [metalThreads(config), 1, 1],
    sharedBytes: metalRoom(config, point),
  } as const;
}

/** The sources, launch shapes and limits of the Metal kernels. */
const metalDecompose: DecomposeBackend<MetalTile> = {
  backend: "metal",
  nullPointers: false,
  tiles: metalTiles,
  splitTiles: metalTiles,
  splitIdea: "split-K, slices spread over the lanes of a reducer, more splits",
  unsupported: tooLarge,
  rules: metalRules,
  predict: metalPredict,
  sums: new URL("./sums.metal", import.meta.url),
  strided: new URL("./strided.metal", import.meta.url),
  partial: (point, config) => ({
    build: buildOf(point, config),
    entry: "partial_simd",
    shape: shapeOf(point, config),
  }),
  spread: { threads: THREADS, columnBytes: THREADS / 32 * BYTES.f32 },
  epilogue: ({ m, n }) => ({
    shape: {
      grid: [Math.ceil(n / 64), Math.ceil(m / 4), 1],
      block: [THREADS, 1, 1],
    },
  }),
};

/** An output tile for each threadgroup, K uncut. */
const product = launched<MatmulPoint, MetalConfig>(matmul, {
  name: "product",
  backend: "metal",
  idea: "one launch on simdgroup matrices, an output tile for each threadgroup",
  unsupported: tooLarge,
  configs: () => metalTiles.map((tile) => ({ ...tile, SPLIT: 1 })),
  rules: metalRules,
  predict: metalPredict,
  build: buildOf,
  launch(site) {
    const { point, config, operands: { A, B, bias, C } } = site;
    const { m, n, k, lda, ldb, ldc } = point;
    return {
      entry: "product_simd",
      args: [
        ...[A, B, bias ?? C, C, m, n, k, lda, ldb, ldc],
        ...[isWhole(site, k), hasRelu(point), bias !== undefined],
      ],
      shape: shapeOf(point, config),
    };
  },
});

/** The Metal kernels of {@linkcode matmul}, in the order of listings and tables. */
export const metalKernels: readonly Kernel<MatmulPoint>[] = [
  plainLibrary(metalDecompose, "mps"),
  product,
  ...decomposeKernels(matmul, metalDecompose),
];

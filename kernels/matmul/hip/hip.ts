/**
 * The HIP kernels of {@linkcode matmul}, simplest first, and what decompose-K is on HIP: tiles,
 * rules, launch shapes, and a model of the time.
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
import { fitsGrid, fitsMemory, noMfma, tableOf } from "../../common/rules.ts";
import {
  equalSlices,
  fullSteps,
  fullTiles,
  longSlices,
} from "../../common/splits.ts";
import { libraryKernels } from "../library.ts";
import { matmul } from "../op.ts";
import { type MatmulPoint, tooLarge } from "../point.ts";
import { splitkKernels } from "./splitk/splitk.ts";

/** The compile-time sizes of a product. */
export interface HipTile {
  /** Rows and columns of the output that a block owns. */
  readonly BM: number;
  readonly BN: number;
  /** The K step that is copied and multiplied as one. */
  readonly BK: number;
  /** Waves of 64 lanes. */
  readonly WAVES: number;
}

/** A tile and the number of K slices. */
type HipConfig = Split<HipTile>;

/** Tiles for small outputs: the least work a block first. */
export const hipTiles: readonly HipTile[] = tableOf(
  ["BM", "BN", "BK", "WAVES"],
  [
    [16, 16, 64, 1],
    [16, 16, 128, 1],
    [16, 16, 128, 2],
    [16, 16, 128, 4],
    [16, 16, 256, 2],
    [16, 16, 256, 4],
    [16, 32, 64, 2],
    [16, 32, 128, 4],
    [16, 32, 256, 4],
    [16, 64, 64, 4],
    [16, 64, 128, 4],
    [32, 16, 128, 4],
    [32, 32, 64, 4],
    [32, 32, 128, 4],
    [32, 32, 256, 8],
    [32, 64, 64, 4],
    [32, 64, 128, 8],
    [64, 32, 64, 4],
    [64, 32, 128, 8],
    [64, 64, 32, 4],
    [64, 64, 64, 4],
    [64, 64, 128, 8],
  ],
);

/** A compute unit of CDNA: SIMDs with registers a lane, and bytes of local data share. */
const UNIT = { simds: 4, registers: 512, lds: 64 * 1024 };

/** Blocks that share a unit: two, where the local data share has room for both. */
function blocksPerUnit(
  tile: HipTile,
  type: MatmulPoint["type"],
): number {
  return Math.max(1, Math.min(2, Math.floor(UNIT.lds / ldsBytes(tile, type))));
}

/** Registers that a lane may have so that as many blocks do share a unit. */
export function registerBudget(
  tile: HipTile,
  type: MatmulPoint["type"],
): number {
  const waves = blocksPerUnit(tile, type) * tile.WAVES;
  const perSimd = Math.ceil(waves / UNIT.simds);
  return Math.floor(UNIT.registers / perSimd / 8) * 8;
}

/** k that the chunks of a wave make up together: four of 16 bytes. */
export function atomOf(type: MatmulPoint["type"]): number {
  return 64 / BYTES[type];
}

/** The number of waves that split the K step of a tile. */
export function wavesOfK({ BM, BN, WAVES }: HipTile): number {
  return WAVES / Math.min(WAVES, BM / 16 * (BN / 16));
}

/** Bytes of the local data share that a partial product takes. */
export function ldsBytes(tile: HipTile, type: MatmulPoint["type"]): number {
  const { BM, BN, BK } = tile;
  return Math.max(
    2 * (BM + BN) * BK * BYTES[type],
    // Where waves that split the K step meet.
    wavesOfK(tile) > 1 ? wavesOfK(tile) * BM * BN * BYTES.f32 : 0,
  );
}

/** The rules of a config, by name. */
export const hipRules = {
  split: equalSlices,
  slice: longSlices,
  shared: fitsMemory(
    ({ type }, tile) => ldsBytes(tile, type),
    "the local data share, a block",
  ),
  /** Waves that split the K step have a product each. */
  waves: ({ type }, tile) => {
    const atoms = tile.BK / atomOf(type);
    return atoms % wavesOfK(tile) === 0
      ? undefined
      : `${atoms} products of a K step of ${tile.BK} are not shared by ${
        wavesOfK(tile)
      } waves`;
  },
  tile: (point, config) => fullTiles(point, config),
  step: (point, config) => fullSteps(point, config, 2 * atomOf(point.type)),
  grid: fitsGrid((_, { SPLIT }) => [SPLIT]),
} satisfies Record<string, Rule<MatmulPoint, HipConfig>>;

/**
 * A rough time of a config in microseconds, of use only to order configs: what each compute
 * unit pulls through its port, what all pull from the cache, the partial sums out and in, and
 * the K steps that wait for one another. Not measured: no such device was at hand.
 */
function hipPredict(
  { m, n, k, type }: Pick<MatmulPoint, "m" | "n" | "k" | "type">,
  config: HipConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { BM, BN, BK, SPLIT } = config;
  const shared = blocksPerUnit(config, type);
  const blocks = Math.ceil(m / BM) * Math.ceil(n / BN) * SPLIT;
  const steps = Math.ceil(k / SPLIT / BK);
  const block = (BM + BN) * steps * BK * BYTES[type];
  const { waves } = wavesOf(blocks, units, shared);
  const sums = SPLIT * m * n * 4;
  // Bytes per microsecond: 64 a clock at 2.1 GHz and unit, 10 TB/s from the Infinity Cache.
  return waves * shared * block / 134e3 +
    (blocks * block + 2 * sums) / 10e6 +
    0.8 * steps + 0.1 * waves;
}

const WAVE = 64;
/** Lanes of the elementwise kernel and of both reducers. */
const THREADS = 256;

/** The sources, launch shapes and limits of the HIP kernels. */
export const hipDecompose: DecomposeBackend<HipTile> = {
  backend: "hip",
  nullPointers: true,
  tiles: hipTiles,
  splitTiles: hipTiles,
  splitIdea: "split-K, slices spread over the lanes of a reducer, more splits",
  unsupported: (point, info) => tooLarge(point) ?? noMfma(info),
  rules: hipRules,
  predict: hipPredict,
  sums: new URL("./sums.hip", import.meta.url),
  strided: new URL("./strided.hip", import.meta.url),
  partial({ m, n, type, layout }, { SPLIT, ...tile }) {
    const tiles = Math.ceil(m / tile.BM) * Math.ceil(n / tile.BN);
    return {
      build: {
        source: new URL("./partial_mfma.hip", import.meta.url),
        defines: { TYPE: type, LAYOUT: layout, ...tile },
      },
      entry: "partial_mfma",
      shape: {
        grid: [tiles, SPLIT, 1],
        block: [WAVE * tile.WAVES, 1, 1],
        sharedBytes: ldsBytes(tile, type),
      },
    };
  },
  spread: { threads: THREADS, columnBytes: THREADS / WAVE * BYTES.f32 },
  epilogue({ m, n, type }) {
    // The kernel strides over rows beyond what a grid may have.
    const rows = Math.min(65535, Math.ceil(m / 4));
    return {
      shape: {
        grid: [Math.ceil(n * BYTES[type] / 16 / WAVE), rows, 1],
        block: [THREADS, 1, 1],
      },
      more: [4 * rows],
    };
  },
};

/** In the order of listings and tables. */
export const hipKernels: readonly Kernel<MatmulPoint>[] = [
  ...libraryKernels(hipDecompose, {
    plain: "hipblas",
    name: "hipblaslt",
    title: "hipBLASLt",
    // As PyTorch gives it on gfx94x.
    workspaceBytes: 76 << 20,
    searched: "solutions",
  }),
  ...decomposeKernels(matmul, hipDecompose),
  ...splitkKernels,
];

/**
 * The CUDA kernels of {@linkcode qmm}, simplest first: the library on decoded weights, and dot
 * products for a handful of tokens.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { EARLY } from "../../../bench/device/queue.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import { defineKernel, type Rules } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { demandAligned, launched } from "../../common/launch.ts";
import {
  fitsGrid,
  nextPowerOfTwo,
  noClusters,
  padding,
} from "../../common/rules.ts";
import { CLOCKS_PER_US } from "../../common/sm90.ts";
import { conversionBuild, libraryKernel, libraryParts } from "../dequantise.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, weightMemory } from "../point.ts";
import { formatMacros, qmmSplitK, qmmTile } from "./qmm.ts";
import { qmmWgmma } from "./wgmma.ts";

/** The tunables of qmv.cu and qvm.cu. */
type DotsConfig = Values & {
  /** Tokens of a block. */
  readonly ROWS: number;
  /** Outputs of a token that a block has. */
  readonly COLS: number;
  readonly THREADS: number;
  /** Rows of W that a thread asks for at once, where W is not transposed; else 1. */
  readonly UNROLL: number;
  /** Blocks of a cluster: slices of K. */
  readonly CLUSTER: number;
};

/** Tokens that a thread has registers for. */
const MOST_ROWS = 8;

/** Groups of outputs along N, and of tokens. */
function blocksOf(
  { m, n }: QmmPoint,
  { ROWS, COLS }: DotsConfig,
): readonly [number, number] {
  return [Math.ceil(n / COLS), Math.ceil(m / ROWS)];
}

/** Bytes of shared memory: sums of the warps, and those of the cluster. */
function dotsBytes(
  { ROWS, COLS, THREADS, CLUSTER }: DotsConfig,
): number {
  const share = Math.ceil(ROWS * COLS / 4 / CLUSTER);
  return THREADS / 32 * ROWS * COLS * 4 +
    (CLUSTER > 1 ? CLUSTER * share * 16 + 16 : 0);
}

/** Steps of K that a cluster shares, and how many its blocks take at once each. */
function stepsOf(
  { k, transposed }: QmmPoint,
  { THREADS, COLS, CLUSTER }: DotsConfig,
): { readonly share: number; readonly phases: number } {
  return {
    share: Math.ceil((transposed ? Math.ceil(k / 32) : k) / CLUSTER),
    phases: transposed ? THREADS : THREADS * 8 / COLS,
  };
}

/** The rules of a config, by name. */
const dotsRules: Rules<QmmPoint, DotsConfig> = {
  tokens({ m }, { ROWS }) {
    const least = Math.min(MOST_ROWS, 2 ** Math.ceil(Math.log2(m)));
    return ROWS === least
      ? undefined
      : `ROWS=${ROWS}: ${least} rows are what M=${m} needs`;
  },
  columns: ({ n }, { COLS }) => padding("COLS", COLS, nextPowerOfTwo(n, 64)),
  registers({ transposed, bits }, { ROWS, COLS }) {
    if (!transposed) return undefined;
    // Codes across words pass through more of them.
    const across = 32 % bits === 0 ? 0 : 5 * COLS;
    const needed = 2 * ROWS * COLS + COLS * bits + 8 * ROWS + across;
    return needed <= 172 && ROWS * COLS <= 32
      ? undefined
      : `about ${needed} registers for codes and sums are more than 172`;
  },
  idle(point, config) {
    const { share, phases } = stepsOf(point, config);
    const least = config.THREADS === 128 && config.CLUSTER === 1;
    return least || 2 * share >= phases
      ? undefined
      : `more than half of the threads would have no part of K=${point.k}`;
  },
  unroll(point, config) {
    const { share, phases } = stepsOf(point, config);
    return config.UNROLL === 1 || config.UNROLL * phases < 2 * share
      ? undefined
      : `UNROLL=${config.UNROLL} is more than twice the steps of a thread`;
  },
  cluster(point, { CLUSTER, ...rest }, info) {
    const [x, y] = blocksOf(point, { CLUSTER, ...rest });
    return CLUSTER === 1 || x * y < 4 * info.units
      ? undefined
      : `${x * y} blocks fill ${info.units} multiprocessors without clusters`;
  },
  grid: fitsGrid(blocksOf),
};

/** A rough time in µs: what is read, at the rate that the bytes in flight allow; the sums. */
function predictDots(
  point: QmmPoint,
  config: DotsConfig,
  { units }: Pick<DeviceInfo, "units">,
): number {
  const { m, n, k, bits, transposed } = point;
  const { ROWS, COLS, THREADS, UNROLL, CLUSTER } = config;
  const [x, y] = blocksOf(point, config);
  const blocks = x * y * CLUSTER;
  const busy = Math.min(units, blocks);
  const beside = Math.min(
    Math.max(1, Math.floor((ROWS * COLS > 8 ? 256 : 512) / THREADS)),
    Math.ceil(blocks / units),
  );
  const mine = transposed ? 4 * bits * COLS : bits * UNROLL;
  const weights = n * k * bits / 8;
  const rate = Math.min(4.3e6, busy * beside * THREADS * mine / 0.75);
  // Instructions a weight: to a float, and for each token; both as seen on an H200.
  const math = y * n * k * (7 + 4.5 * ROWS) / (busy * 128 * CLOCKS_PER_US);
  const waves = Math.ceil(blocks / (units * beside));
  return 5 + Math.max(y * weights / rate, math) + 0.3 * waves +
    0.05 * Math.ceil(m / ROWS) + (CLUSTER > 1 ? 0.45 : 0);
}

/** Every config of an orientation. */
export function dotsConfigs({ transposed }: QmmPoint): Iterable<DotsConfig> {
  return grid({
    ROWS: [1, 2, 4, MOST_ROWS],
    COLS: transposed ? [4, 8] : [64, 128, 256],
    THREADS: [128, 256],
    UNROLL: transposed ? [1] : [2, 4],
    CLUSTER: [1, 2, 4, 8],
  });
}

/** Tokens from which on weights, read again for every eight, take longer than all else. */
const MOST_TOKENS = 64;

/** The kernel, of either orientation. */
const qmv: Kernel<QmmPoint> = launched<QmmPoint, DotsConfig>(qmm, {
  name: "qmv",
  backend: "cuda",
  idea: "dot products, all codes in flight, a scale for the sum of its group",
  unsupported: ({ m }, info) =>
    noClusters(info) ??
      (m <= MOST_TOKENS
        ? undefined
        : `M=${m}: it reads the weights again for every 8 tokens, 64 at most`),
  configs: dotsConfigs,
  rules: dotsRules,
  predict: predictDots,
  // The other orientation asks for tokens first.
  startsEarly: ({ transposed }) => transposed,
  build(point, { UNROLL, ...config }) {
    const { transposed } = point;
    const name = transposed ? "qmv" : "qvm";
    return {
      source: new URL(`./${name}.cu`, import.meta.url),
      defines: {
        ...formatMacros(point),
        ...config,
        ...(transposed ? {} : { UNROLL }),
      },
    };
  },
  launch({ point, config, operands }) {
    const { m, n, k, bits, transposed } = point;
    const { x, w, y } = operands;
    if (transposed) demandAligned(x!, "x", "its loads");
    const wide = k * bits / 8 % 16 === 0 && w!.address % 16n === 0n;
    return {
      args: [
        ...[x, ...weightMemory(operands), y],
        ...[m, n, k, ...(transposed ? [wide, EARLY] : [])],
      ],
      shape: {
        grid: [config.CLUSTER, ...blocksOf(point, config)],
        block: [config.THREADS, 1, 1],
        cluster: config.CLUSTER,
        sharedBytes: dotsBytes(config),
      },
    };
  },
});

const cublas = libraryKernel("cublas", "cuda");

/** Decodes all weights on the clock: it saves memory but no traffic. */
const dequantCublas: Kernel<QmmPoint> = defineKernel(qmm, {
  name: "dequant-cublas",
  backend: "cuda",
  idea: "all weights decoded to 16 bits, then the library, both on the clock",
  library: true,
  builds: (point) => [conversionBuild("cuda", point)],
  prepare: (context) => ({ steps: libraryParts("cuda", context) }),
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<QmmPoint>[] = [
  cublas,
  dequantCublas,
  qmv,
  qmmTile,
  qmmSplitK,
  qmmWgmma,
];

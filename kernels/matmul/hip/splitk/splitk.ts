/**
 * The LDS-pipelined split-K kernels for decoding, on HIP: few rows, weights as `B[N, K]`.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../../../bench/device/device.ts";
import { BYTES } from "../../../../bench/model/dtype.ts";
import { defineKernel } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import type { Tolerance } from "../../../../bench/model/problem.ts";
import { launch } from "../../../common/launch.ts";
import { noMfma } from "../../../common/rules.ts";
import { matmul } from "../../op.ts";
import { hasRelu, type MatmulPoint, tooLarge } from "../../point.ts";
import {
  predictSplitk,
  type Protocol,
  type SplitkConfig,
  splitkConfigs,
  splitkLds,
  splitkRules,
  threadsOf,
  tilesOf,
} from "./config.ts";

/** Half the distance of neighbours, relative to the binade: 2 to minus the significand's bits. */
const ROUNDING = { bf16: 2 ** -8, f16: 2 ** -11 } as const;
/**
 * Standard deviations that are right. The errors have wider tails than a normal distribution,
 * since a large sum is rounded coarsely: of four million simulated sums the worst is beyond
 * the relative part by 3.8.
 */
const SIGMAS = 6;

/**
 * The tolerance of the operation, and beside it what the roundings of the protocol come to for
 * inputs of unit variance.
 *
 * A rounding of a sum of `j` products errs by at most u·√j about, uniformly: a variance of
 * u²·j/3. Waves of a block round their sums (K in all), then the block its own (K), then each of
 * S additions what is in C by then: K·(1 + ... + S)/S. AITER's own check of the same kernel grows
 * too, as S times the waves along K, and allows for several times as much.
 */
export function atomicTolerance(
  point: MatmulPoint,
  { SPLIT }: Pick<SplitkConfig, "SPLIT">,
): Tolerance {
  const { rtol, atol } = matmul.tolerance(point);
  if (point.type === "f32") return { rtol, atol };
  const variance = point.k / 3 * (2 + (SPLIT + 1) / 2);
  const spread = SIGMAS * ROUNDING[point.type] * Math.sqrt(variance);
  return { rtol, atol: atol + spread };
}

/** Dies of an MI300X, to which blocks are dealt in turn. */
const DIES = 8;

/** The translation unit of a config. */
export function splitkBuild(
  { type }: Pick<MatmulPoint, "type">,
  config: SplitkConfig,
  protocol: Protocol,
): Build {
  const { TM, TN, TK, STAGES, WAVES_M, WAVES_N, WAVES_K } = config;
  return {
    source: new URL("./splitk.hip", import.meta.url),
    defines: {
      TYPE: type,
      LAYOUT: "nt",
      BM: TM,
      BN: TN,
      BK: TK,
      STAGES,
      WAVES_M,
      WAVES_N,
      WAVES_K,
      WAVES: WAVES_M * WAVES_N * WAVES_K,
      ASYNC: config.ASYNC,
      B_TO_LDS: config.B_TO_LDS,
      ATOMIC: protocol === "atomic" ? 1 : 0,
    },
  };
}

/** Returns why no config can compute the point. */
function unfit(
  point: MatmulPoint,
  protocol: Protocol,
): string | undefined {
  const { type, layout, lda, ldb, ldc, n, epilogue } = point;
  if (type === "f32") return "the kernel multiplies 16-bit operands, not f32";
  if (layout !== "nt") return "the kernel reads B[N, K]: layout nt";
  if (n % 64 !== 0) return `N=${n} is no multiple of 64, the narrowest tile`;
  if (lda % 8 !== 0 || ldb % 8 !== 0 || ldc % 2 !== 0) {
    return `rows ${lda}, ${ldb} and ${ldc} apart are not read and written by 16, 16 and 4 bytes`;
  }
  return protocol === "atomic" && epilogue.endsWith("relu")
    ? "sums that blocks add to C have no moment at which all are there for a relu"
    : undefined;
}

/** Returns why pairs cannot be added to in memory. */
function noPairs(
  { type }: MatmulPoint,
  { arch }: DeviceInfo,
): string | undefined {
  return type === "bf16" && arch.startsWith("gfx90a")
    ? "gfx90a adds pairs of f16 in memory, and none of bf16: gfx942 does"
    : undefined;
}

function splitk(
  protocol: Protocol,
  named: { readonly name: string; readonly idea: string },
): Kernel<MatmulPoint> {
  const isAtomic = protocol === "atomic";
  return defineKernel<MatmulPoint, SplitkConfig>(matmul, {
    ...named,
    backend: "hip",
    unsupported: (point, info) =>
      tooLarge(point) ?? noMfma(info) ?? unfit(point, protocol) ??
        (isAtomic ? noPairs(point, info) : undefined),
    configs: splitkConfigs,
    rules: splitkRules(protocol),
    predict: predictSplitk,
    builds: (point, config) => [splitkBuild(point, config, protocol)],
    ...(isAtomic ? { tolerance: atomicTolerance } : {}),
    prepare(site) {
      const { point, config, operands: { A, B, bias, C }, alloc } = site;
      const { m, n, k, lda, ldb, ldc } = point;
      const { SPLIT } = config;
      const tiles = tilesOf(point, config);
      const partials = isAtomic ? undefined : alloc(SPLIT * m * n * BYTES.f32);
      // A signal and a counter for each tile; the kernel leaves them as it found them.
      const counters = alloc(2 * 4 * tiles);
      const step = launch(site, splitkBuild(point, config, protocol), {
        args: [
          ...[A, B, bias, C, partials],
          counters.slice(0, 4 * tiles),
          counters.slice(4 * tiles, 4 * tiles),
          ...[m, n, k / SPLIT, lda, ldb, ldc, SPLIT, hasRelu(point)],
        ],
        shape: {
          grid: [Math.ceil(tiles / DIES) * DIES * SPLIT, 1, 1],
          block: [threadsOf(config), 1, 1],
          sharedBytes: splitkLds(config, protocol),
        },
      });
      return {
        setup: [{
          label: "zero counters",
          capturable: true,
          enqueue: () => counters.fill(0),
        }],
        steps: [step],
      };
    },
  });
}

/** Deterministic: fp32 partial products, summed in the order of the splits. */
export const splitkPartials: Kernel<MatmulPoint> = splitk("partials", {
  name: "splitk-lds",
  idea:
    "one launch, an LDS ring, K split between blocks; the last sums fp32 partials",
});

/**
 * The original protocol: rounded to 16 bits once a split and added in any order, so that its
 * error grows with the splits, and so does what is right for it; two runs differ.
 */
export const splitkAtomic: Kernel<MatmulPoint> = splitk("atomic", {
  name: "splitk-lds-atomic",
  idea: "the same, 16-bit sums added to C in whatever order they come",
});

/** The kernels that suites list. */
export const splitkKernels: readonly Kernel<MatmulPoint>[] = [
  splitkPartials,
  splitkAtomic,
];
